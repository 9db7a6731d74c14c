/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Timers and what else a handler may live through: expired, cancelled, never called; strands, a thread
 * pool, poll(), poll_one(), run_for(), a handler that throws, HANDLER_LOCATION.
 *
 *	example_timers [TIMERS]
 *
 * Prints how many handlers it knows to have been created, invoked, left by an exception, and destroyed
 * without being invoked.
 */
#include "asio_api.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(STANDALONE)
#define HERE ASIO_HANDLER_LOCATION((__FILE__, __LINE__, __func__))
#else
#define HERE BOOST_ASIO_HANDLER_LOCATION((__FILE__, __LINE__, __func__))
#endif

namespace
{
typedef std::chrono::microseconds us;

struct program {
	net::io_context io;
	std::vector<std::unique_ptr<net::steady_timer>> timers;
	unsigned long expired = 0, cancelled = 0, posted = 0, thrown = 0;

	void start(unsigned number)
	{
		HERE;
		timers.emplace_back(new net::steady_timer(io));
		timers.back()->expires_after(us(100 * (number % 16)));
		timers.back()->async_wait([this](const error_code &ec) {
			if (ec)
				cancelled++;
			else
				expired++;
		});
	}

	/* every eighth timer is cancelled; an io_context that a handler polls, nested in the other's run */
	void cancel_some()
	{
		HERE;
		for (std::size_t i = 0; i < timers.size(); i += 8)
			timers[i]->cancel();
		net::io_context inner;
		for (int i = 0; i < 3; i++)
			net::post(inner, [this] { posted++; });
		inner.poll_one();
		inner.restart();
		inner.poll();
	}

	void run_all()
	{
		for (;;) {
			try {
				io.run_for(std::chrono::seconds(10));
				return;
			} catch (const std::runtime_error &) {
				thrown++;
			}
		}
	}
};

/* handlers on two threads through one strand */
unsigned long in_strand(unsigned count)
{
	net::thread_pool pool(2);
	net::strand<net::thread_pool::executor_type> strand(pool.get_executor());
	unsigned long sum = 0;

	for (unsigned i = 0; i < count; i++)
		net::post(strand, [&sum] { sum++; });
	pool.join();
	return sum;
}

/* neither of the two is ever invoked */
void abandoned()
{
	net::io_context io;
	net::steady_timer timer(io);

	timer.expires_after(std::chrono::hours(1));
	timer.async_wait([](const error_code &) {});
	net::post(io, [] {});
}
} // namespace

int main(int argc, char **argv)
{
	unsigned timers = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200;
	program all;
	unsigned long strand;

	for (unsigned i = 0; i < timers; i++)
		all.start(i);
	net::post(all.io, [&all] { all.cancel_some(); });
	net::post(all.io, [] { throw std::runtime_error("left by an exception"); });
	all.run_all();
	strand = in_strand(10);
	abandoned();
	std::printf("expired %lu cancelled %lu posted %lu thrown %lu strand %lu abandoned 2\n", all.expired,
		    all.cancelled, all.posted, all.thrown, strand);
	return 0;
}
