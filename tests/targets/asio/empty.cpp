/* SPDX-License-Identifier: BSD-2-Clause */
/* With TRACER_DISABLE an operation is not a byte larger, and there is nothing to link. */
#include <boost/asio/detail/handler_tracking.hpp>

struct plain {
	long value;
};

struct tracked BOOST_ASIO_INHERIT_TRACKED_HANDLER {
	long value;
};

static_assert(sizeof(tracked) == sizeof(plain), "tracking has left something in the operation");

int main()
{
	BOOST_ASIO_HANDLER_LOCATION((__FILE__, __LINE__, __func__));
	return 0;
}
