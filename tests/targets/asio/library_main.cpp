/* SPDX-License-Identifier: BSD-2-Clause */
/* See library.cpp. Prints how many handlers there are. */
#include <boost/asio.hpp>
#include <cstdio>
#include <thread>
#include "library.h"

/* names longer than Asio shows */
static void named_at_length(boost::asio::io_context &io)
{
#define TEN(letter) letter letter letter letter letter letter letter letter letter letter
	BOOST_ASIO_HANDLER_LOCATION((TEN("filename/f"), 7, TEN("function()")));
	boost::asio::post(io, [] {});
}

int main()
{
	boost::asio::io_context io;

	named_at_length(io);
	library_start(io, 50);
	for (int i = 0; i < 50; i++)
		boost::asio::post(io, [&io] { library_start(io, 1); });
	std::thread other([&io] { library_run(io); });
	io.run();
	other.join();
	std::printf("251\n");
	return 0;
}
