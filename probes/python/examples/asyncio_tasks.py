# SPDX-License-Identifier: BSD-2-Clause
"""A producer, three consumers and a deadline: tasks that wait for each other.

	sudo env PYTHONPATH=build/python build/tracer -o asyncio.pftrace -- python3 probes/python/examples/asyncio_tasks.py
"""
import asyncio

import tracer
import tracer.asyncio


async def produce(queue):
    for n in range(30):
        with tracer.zone("prepare", value=n):
            await asyncio.sleep(0.002)
        await queue.put(n)
        tracer.counter("in the queue", queue.qsize())


async def consume(queue, lock):
    while True:
        n = await queue.get()
        with tracer.zone("work"):
            sum(range(20000))
        async with lock:
            await asyncio.sleep(0.001)
            tracer.message("item %d" % n)
        queue.task_done()


async def main():
    queue, lock = asyncio.Queue(4), asyncio.Lock()
    consumers = [asyncio.create_task(consume(queue, lock)) for _ in range(3)]
    await asyncio.wait_for(produce(queue), 10)
    await queue.join()
    for consumer in consumers:
        consumer.cancel()
    await asyncio.gather(*consumers, return_exceptions=True)


if __name__ == "__main__":
    tracer.asyncio.run(main())
