/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a handler of Boost.Asio costs, with the tracking header that it was compiled with.
 *
 *	asio_handlers post N THREADS	handlers that post the next, a chain on each thread of one io_context
 *	asio_handlers chain N 1		the same on an io_context that is not told of its threads, so that it locks
 *	asio_handlers echo N 1		a byte to and fro over a socket pair: handlers with system calls
 *
 * Prints ns of CPU, user and system time of the whole process, a handler. Best of five.
 */
#include <boost/asio.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <sys/resource.h>

namespace net = boost::asio;
using net::local::stream_protocol;

static double cpu_ns()
{
	rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_stime.tv_sec)) * 1e9 +
	       (static_cast<double>(usage.ru_utime.tv_usec) + static_cast<double>(usage.ru_stime.tv_usec)) * 1e3;
}

struct chain {
	net::io_context &io;
	long left;

	void operator()()
	{
		if (--left > 0)
			net::post(io, *this);
	}
};

static double post(net::io_context &io, long handlers, int threads)
{
	std::vector<std::thread> pool;
	double start;

	for (int i = 0; i < threads; i++)
		net::post(io, chain{io, handlers / threads});
	start = cpu_ns();
	for (int i = 1; i < threads; i++)
		pool.emplace_back([&io] { io.run(); });
	io.run();
	for (std::thread &thread : pool)
		thread.join();
	return (cpu_ns() - start) / static_cast<double>(handlers);
}

/* reads a byte, writes it back */
struct end {
	stream_protocol::socket socket;
	long left;
	char byte;

	explicit end(net::io_context &io, long rounds) : socket(io), left(rounds), byte('x')
	{
	}

	void read()
	{
		socket.async_read_some(net::buffer(&byte, 1), [this](const boost::system::error_code &ec, std::size_t) {
			if (!ec)
				write();
		});
	}

	void write()
	{
		if (left-- == 0) {
			socket.close();
			return;
		}
		socket.async_write_some(net::buffer(&byte, 1),
					[this](const boost::system::error_code &ec, std::size_t) {
						if (!ec)
							read();
					});
	}
};

static double echo(long handlers)
{
	net::io_context io(1);
	end one(io, handlers / 4), other(io, handlers / 4);
	double start = cpu_ns();

	net::local::connect_pair(one.socket, other.socket);
	other.read();
	one.write();
	io.run();
	return (cpu_ns() - start) / static_cast<double>(handlers);
}

static double handler_ns(const char *load, long handlers, int threads)
{
	net::io_context told(threads), untold;

	if (!std::strcmp(load, "echo"))
		return echo(handlers);
	return post(std::strcmp(load, "chain") ? told : untold, handlers, threads);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	long handlers = std::atol(argv[2]);
	double best = 0;

	for (int i = 0; i < 5; i++) {
		double ns = handler_ns(argv[1], handlers, std::atoi(argv[3]));

		if (i == 0 || ns < best)
			best = ns;
	}
	std::printf("%.1f\n", best);
	return 0;
}
