/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An echo server and its clients in one process: every connection sends messages and reads them back.
 *
 *	example_echo [CONNECTIONS [MESSAGES [THREADS]]]
 *
 * Threads run one io_context; a connection's handlers go through a strand of its own. Prints how many
 * handlers of each kind it knows of, for comparison with the trace.
 */
#include "asio_api.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

using net::ip::tcp;
using strand = net::strand<net::io_context::executor_type>;

namespace
{
struct counts {
	std::atomic<unsigned long> accepts{0}, connects{0}, echoes{0}, closed{0};
};

class session : public std::enable_shared_from_this<session>
{
      public:
	session(tcp::socket socket, counts &known) : socket_(std::move(socket)), known_(known)
	{
	}

	void read()
	{
		auto self = shared_from_this();

		socket_.async_read_some(net::buffer(data_), [this, self](error_code ec, std::size_t n) {
			if (ec)
				known_.closed++;
			else
				write(n);
		});
	}

      private:
	void write(std::size_t n)
	{
		auto self = shared_from_this();

		net::async_write(socket_, net::buffer(data_, n), [this, self](error_code ec, std::size_t) {
			if (!ec)
				read();
		});
	}

	tcp::socket socket_;
	counts &known_;
	char data_[256];
};

class server
{
      public:
	server(net::io_context &io, counts &known)
		: io_(io), acceptor_(io, tcp::endpoint(net::ip::address_v4::loopback(), 0)), known_(known)
	{
		accept();
	}

	tcp::endpoint where() const
	{
		return acceptor_.local_endpoint();
	}

	void stop()
	{
		acceptor_.close();
	}

      private:
	void accept()
	{
		acceptor_.async_accept(net::make_strand(io_), [this](error_code ec, tcp::socket socket) {
			if (ec)
				return;
			known_.accepts++;
			std::make_shared<session>(std::move(socket), known_)->read();
			accept();
		});
	}

	net::io_context &io_;
	tcp::acceptor acceptor_;
	counts &known_;
};

class client : public std::enable_shared_from_this<client>
{
      public:
	client(net::io_context &io, unsigned messages, counts &known, server &peer,
	       std::atomic<unsigned> &open)
		: strand_(net::make_strand(io)), socket_(strand_), left_(messages), known_(known),
		  peer_(peer), open_(open)
	{
	}

	void start()
	{
		auto self = shared_from_this();

		socket_.async_connect(peer_.where(), [this, self](error_code ec) {
			if (ec) {
				std::fprintf(stderr, "cannot connect: %s\n", ec.message().c_str());
				std::exit(1);
			}
			known_.connects++;
			send();
		});
	}

      private:
	void send()
	{
		auto self = shared_from_this();

		if (left_-- == 0) {
			finish();
			return;
		}
		net::async_write(socket_, net::buffer("hello, asio", 11),
				 [this, self](error_code, std::size_t) { receive(); });
	}

	void receive()
	{
		auto self = shared_from_this();

		net::async_read(socket_, net::buffer(data_, 11), [this, self](error_code ec, std::size_t) {
			if (ec)
				return;
			known_.echoes++;
			send();
		});
	}

	/* the last one asks the server to stop */
	void finish()
	{
		socket_.close();
		if (--open_ == 0)
			peer_.stop();
	}

	strand strand_;
	tcp::socket socket_;
	unsigned left_;
	counts &known_;
	server &peer_;
	std::atomic<unsigned> &open_;
	char data_[16];
};
} // namespace

int main(int argc, char **argv)
{
	unsigned connections = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 200;
	unsigned messages = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 10;
	unsigned threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 8;
	std::vector<std::thread> pool;
	std::atomic<unsigned> open{connections};
	counts known;
	net::io_context io;
	server echo(io, known);

	for (unsigned i = 0; i < connections; i++)
		std::make_shared<client>(io, messages, known, echo, open)->start();
	for (unsigned i = 0; i < threads; i++)
		pool.emplace_back([&io] { io.run(); });
	for (auto &thread : pool)
		thread.join();
	std::printf("accepts %lu connects %lu echoes %lu closed %lu\n", known.accepts.load(),
		    known.connects.load(), known.echoes.load(), known.closed.load());
	return 0;
}
