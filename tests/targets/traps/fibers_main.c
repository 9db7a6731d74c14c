// SPDX-License-Identifier: BSD-2-Clause
int fibers_run(void);

int main(void)
{
	return fibers_run();
}
