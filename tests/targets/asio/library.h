/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TEST_ASIO_LIBRARY_H
#define TEST_ASIO_LIBRARY_H

#include <boost/asio.hpp>

void library_start(boost::asio::io_context &io, int count);
void library_run(boost::asio::io_context &io);

#endif
