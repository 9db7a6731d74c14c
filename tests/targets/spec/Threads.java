// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A pool whose threads contend for a monitor, sleep, and park; and a thread of its own name. */
public class Threads {
	public static void main(String[] arguments) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(3);
		CountDownLatch latch = new CountDownLatch(30);
		Object monitor = new Object();

		for (int i = 0; i < 30; i++) {
			pool.submit(() -> {
				try {
					synchronized (monitor) {
						Thread.sleep(2);
					}
				} catch (InterruptedException e) {
					throw new RuntimeException(e);
				}
				latch.countDown();
			});
		}
		latch.await();
		pool.shutdown();
		Thread napper = new Thread(() -> {
			try {
				Thread.sleep(5);
			} catch (InterruptedException e) {
				throw new RuntimeException(e);
			}
		}, "napper");
		napper.start();
		napper.join();
		System.out.println("done");
	}
}
