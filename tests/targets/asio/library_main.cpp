/* SPDX-License-Identifier: BSD-2-Clause */
/* See library.cpp. Prints how many handlers there are. */
#include <boost/asio.hpp>
#include <cstdio>
#include <thread>
#include "library.h"

int main()
{
	boost::asio::io_context io;

	library_start(io, 50);
	for (int i = 0; i < 50; i++)
		boost::asio::post(io, [&io] { library_start(io, 1); });
	std::thread other([&io] { library_run(io); });
	io.run();
	other.join();
	std::printf("250\n");
	return 0;
}
