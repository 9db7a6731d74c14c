# SPDX-License-Identifier: BSD-2-Clause
"""asyncio without any points: sleeps, a queue that is full, a lock, a gather, a bare yield."""

import asyncio


async def fetch(i, queue):
    await asyncio.sleep(0.002)
    await queue.put(i)


async def consume(queue, count):
    total = 0
    for _ in range(count):
        total += await queue.get()
    return total


async def locked(lock):
    async with lock:
        await asyncio.sleep(0.001)


async def yielding():
    for _ in range(3):
        await asyncio.sleep(0)


async def größe():
    await asyncio.sleep(0.001)


async def main():
    queue, lock = asyncio.Queue(maxsize=2), asyncio.Lock()
    consumer = asyncio.create_task(consume(queue, 10))
    fetches = [asyncio.create_task(fetch(i, queue)) for i in range(10)]
    lockers = [asyncio.create_task(locked(lock)) for _ in range(3)]
    await asyncio.gather(*fetches, *lockers, yielding(), größe())
    print(await consumer)


asyncio.run(main())
