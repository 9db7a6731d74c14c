// SPDX-License-Identifier: BSD-2-Clause

// Goroutines that wait for every common reason, while runtime/trace records the same run:
// goroutines TRACE-FILE [ROUNDS]
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

func squarer(in <-chan int, out chan<- int, group *sync.WaitGroup) {
	defer group.Done()
	for value := range in {
		time.Sleep(500 * time.Microsecond)
		out <- value * value
	}
}

func adder(out <-chan int, sum chan<- int) {
	total := 0
	for value := range out {
		total += value
	}
	sum <- total
}

func locker(mutex *sync.Mutex, counter *int, rounds int, group *sync.WaitGroup) {
	defer group.Done()
	for i := 0; i < rounds; i++ {
		mutex.Lock()
		*counter++
		time.Sleep(100 * time.Microsecond)
		mutex.Unlock()
	}
}

func selector(one, other <-chan int, stop <-chan bool, done chan<- bool) {
	for {
		select {
		case <-one:
		case <-other:
		case <-stop:
			done <- true
			return
		}
	}
}

func echo(listener net.Listener) {
	connection, err := listener.Accept()
	if err != nil {
		panic(err)
	}
	io.Copy(connection, connection)
	connection.Close()
}

func caller(address string, rounds int, group *sync.WaitGroup) {
	defer group.Done()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	buffer := make([]byte, 16)
	for i := 0; i < rounds; i++ {
		connection.Write([]byte("0123456789abcdef"))
		io.ReadFull(connection, buffer)
	}
	connection.Close()
}

func conditional(condition *sync.Cond, turns *int, group *sync.WaitGroup) {
	defer group.Done()
	condition.L.Lock()
	for *turns == 0 {
		condition.Wait()
	}
	*turns--
	condition.L.Unlock()
}

// Ahead of the rest of the machine, if root says so: between what runtime/trace and the tracer record of
// one thing nothing else shall run.
func hurry() bool {
	ahead := true
	threads, _ := os.ReadDir("/proc/self/task")
	priority := int32(1)
	for _, thread := range threads {
		number, _ := strconv.Atoi(thread.Name())
		_, _, err := syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(number), 1 /* SCHED_FIFO */, uintptr(unsafe.Pointer(&priority)))
		ahead = ahead && err == 0
	}
	return ahead
}

func main() {
	rounds := 50
	if len(os.Args) > 2 {
		rounds, _ = strconv.Atoi(os.Args[2])
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	ahead := hurry()
	trace.Start(file)

	var group, lockers, waiters sync.WaitGroup
	in, out, sum := make(chan int), make(chan int), make(chan int)
	for i := 0; i < 4; i++ {
		group.Add(1)
		go squarer(in, out, &group)
	}
	go adder(out, sum)

	var mutex sync.Mutex
	counter := 0
	for i := 0; i < 3; i++ {
		lockers.Add(1)
		go locker(&mutex, &counter, rounds/2, &lockers)
	}

	one, other, stop, done := make(chan int), make(chan int), make(chan bool), make(chan bool)
	go selector(one, other, stop, done)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go echo(listener)
	lockers.Add(1)
	go caller(listener.Addr().String(), rounds, &lockers)

	condition := sync.NewCond(new(sync.Mutex))
	turns := 0
	for i := 0; i < 3; i++ {
		waiters.Add(1)
		go conditional(condition, &turns, &waiters)
	}

	for i := 0; i < rounds; i++ {
		in <- i
		if i%2 == 0 {
			one <- i
		} else {
			other <- i
		}
	}
	close(in)
	group.Wait()
	close(out)
	stop <- true
	<-done
	lockers.Wait()
	condition.L.Lock()
	turns = 3
	condition.Broadcast()
	condition.L.Unlock()
	waiters.Wait()
	fmt.Println(<-sum, counter, ahead)
	time.Sleep(20 * time.Millisecond) // the last ones end
	trace.Stop()
	file.Close()
}
