/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers that are created in a library and invoked by another's scheduler, and the other way round. */
#include <boost/asio.hpp>
#include <memory>
#include "library.h"

__attribute__((visibility("default"))) void library_start(boost::asio::io_context &io, int count)
{
	for (int i = 0; i < count; i++) {
		auto timer = std::make_shared<boost::asio::steady_timer>(io, std::chrono::microseconds(i));

		timer->async_wait([timer](const boost::system::error_code &) {});
		boost::asio::post(io, [] {});
	}
}

__attribute__((visibility("default"))) void library_run(boost::asio::io_context &io)
{
	io.run();
}
