# SPDX-License-Identifier: BSD-2-Clause
"""asyncio tasks whose steps begin with an exception: cancelled, timed out, a future that fails."""

import asyncio


async def never():
    await asyncio.sleep(3600)


async def cancelled():
    await never()


async def timed():
    try:
        await asyncio.wait_for(never(), 0.01)
    except asyncio.TimeoutError:
        pass


async def failed(future):
    await future


async def forgiven(future):
    try:
        await future
    except ValueError:
        return


async def cleans_up():
    try:
        await never()
    except asyncio.CancelledError:
        await asyncio.sleep(0.001)
        raise


async def goes_on():
    try:
        await never()
    except asyncio.CancelledError:
        await asyncio.sleep(0)
    await asyncio.Event().wait()


async def main():
    future = asyncio.get_running_loop().create_future()
    late = asyncio.create_task(cancelled())
    late.cancel()
    coroutines = [cancelled(), timed(), failed(future), forgiven(future), cleans_up(), goes_on()]
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    await asyncio.sleep(0.001)
    future.set_exception(ValueError("x"))
    for task in (tasks[0], tasks[4], tasks[5]):
        task.cancel()
    await asyncio.sleep(0.005)
    tasks[5].cancel()
    await asyncio.gather(late, *tasks, return_exceptions=True)
    print(sum(task.cancelled() for task in (late, *tasks)))


asyncio.run(main())
