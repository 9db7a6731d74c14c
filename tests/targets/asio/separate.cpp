/* SPDX-License-Identifier: BSD-2-Clause */
/* Boost.Asio's own code, compiled apart (BOOST_ASIO_SEPARATE_COMPILATION). */
#include <boost/asio/impl/src.hpp>
