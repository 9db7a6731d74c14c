/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A chat in coroutines (C++20): each member is a reader and a writer, woken by a timer that never
 * expires; what one says all receive.
 *
 *	example_chat [MEMBERS [LINES]]
 *
 * A use_awaitable_t made on the spot tells the place in the source, so each operation has its call path.
 */
#include "asio_api.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <set>
#include <string>

using net::awaitable;
using here = net::use_awaitable_t<>; /* made anew at each use, so it knows where */
using net::ip::tcp;

namespace
{
class member;

struct room {
	std::set<std::shared_ptr<member>> members;
	unsigned long delivered = 0;

	void say(const std::string &line);
};

class member : public std::enable_shared_from_this<member>
{
      public:
	member(tcp::socket socket, room &where)
		: socket_(std::move(socket)), timer_(socket_.get_executor()), room_(where)
	{
		timer_.expires_at(std::chrono::steady_clock::time_point::max());
	}

	void start()
	{
		auto self = shared_from_this();

		room_.members.insert(self);
		net::co_spawn(socket_.get_executor(), [self] { return self->read(); }, net::detached);
		net::co_spawn(socket_.get_executor(), [self] { return self->write(); }, net::detached);
	}

	void deliver(const std::string &line)
	{
		lines_.push_back(line);
		timer_.cancel_one();
	}

      private:
	awaitable<void> read()
	{
		std::string data;

		try {
			for (;;) {
				std::size_t n = co_await net::async_read_until(
					socket_, net::dynamic_buffer(data, 1024), "\n", here());

				room_.say(data.substr(0, n));
				data.erase(0, n);
			}
		} catch (const std::exception &) {
			leave();
		}
	}

	awaitable<void> write()
	{
		try {
			while (socket_.is_open()) {
				if (lines_.empty()) {
					error_code ec;

					co_await timer_.async_wait(net::redirect_error(here(), ec));
					continue;
				}
				co_await net::async_write(socket_, net::buffer(lines_.front()), here());
				room_.delivered++;
				lines_.pop_front();
			}
		} catch (const std::exception &) {
			leave();
		}
	}

	void leave()
	{
		room_.members.erase(shared_from_this());
		socket_.close();
		timer_.cancel();
	}

	tcp::socket socket_;
	net::steady_timer timer_;
	room &room_;
	std::deque<std::string> lines_;
};

void room::say(const std::string &line)
{
	for (const auto &each : members)
		each->deliver(line);
}

awaitable<void> accept(tcp::acceptor &acceptor, room &where, unsigned members)
{
	for (unsigned i = 0; i < members; i++) {
		tcp::socket socket = co_await acceptor.async_accept(here());

		std::make_shared<member>(std::move(socket), where)->start();
	}
}

/* says its lines, and reads until it has heard everybody's */
awaitable<void> guest(tcp::endpoint where, unsigned lines, unsigned long all)
{
	tcp::socket socket(co_await net::this_coro::executor);
	std::string data;

	co_await socket.async_connect(where, here());
	for (unsigned i = 0; i < lines; i++)
		co_await net::async_write(socket, net::buffer("a line\n", 7), here());
	for (unsigned long heard = 0; heard < all; heard++) {
		std::size_t n = co_await net::async_read_until(socket, net::dynamic_buffer(data, 65536), "\n",
							       here());
		data.erase(0, n);
	}
}
} // namespace

int main(int argc, char **argv)
{
	unsigned members = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 5;
	unsigned lines = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 10;
	net::io_context io(1);
	room chat;
	tcp::acceptor acceptor(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));

	net::co_spawn(io, accept(acceptor, chat, members), net::detached);
	io.poll();
	/* each hears at least its own lines: who joins late misses the others' */
	for (unsigned i = 0; i < members; i++)
		net::co_spawn(io, guest(acceptor.local_endpoint(), lines, lines), net::detached);
	io.run();
	std::printf("delivered %lu\n", chat.delivered);
	return 0;
}
