/* SPDX-License-Identifier: BSD-2-Clause */
/* The examples are for both: Boost.Asio, and with -DSTANDALONE Asio alone. */
#ifndef TRACER_EXAMPLE_ASIO_API_HPP
#define TRACER_EXAMPLE_ASIO_API_HPP

#ifdef STANDALONE
#include <asio.hpp>
namespace net = asio;
using error_code = asio::error_code;
#else
#include <boost/asio.hpp>
namespace net = boost::asio;
using error_code = boost::system::error_code;
#endif

#endif
