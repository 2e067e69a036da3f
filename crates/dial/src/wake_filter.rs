//! Keeps the wake-ups that a part of a task sends to itself from the task.
//!
//! hyper's connections pass what they read through channels, so a connection that is polled wakes its own task several
//! times for one message, although the same poll takes the message out again. Without this filter such a task is scheduled
//! and polled about five times for a call, where three are enough.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use crate::lock::lock;

/// Rounds of one poll. A part that is still woken then waits for the next poll, so that other tasks have their turn.
const MAX_ROUNDS: usize = 8;

/// What stands between a part of a task and the task's waker.
#[derive(Debug)]
pub struct WakeFilter {
    state: Arc<State>,
    waker: Waker,
    inner_waker: Waker,
}

/// The order of what is written and read is the same for all threads (`SeqCst`): a waker marks first and then looks whether
/// the part is polled, the end of a poll says so first and then looks for marks. One of the two sees the other.
struct State {
    /// The task is polling the part right now, and looks for marks before it stops.
    is_polled: AtomicBool,
    is_woken: AtomicBool,
    /// The future inside was woken.
    is_inner_woken: AtomicBool,
    /// There is a future inside. A wake-up for one that has ended is taken back by no poll, so it must not count.
    has_inner: AtomicBool,
    /// The waker of the task that polled last.
    task: Mutex<Waker>,
}

impl State {
    fn wake_task_unless_polled(&self) {
        if !self.is_polled.load(SeqCst) {
            lock(&self.task).wake_by_ref();
        }
    }

    fn needs_poll(&self) -> bool {
        let needs_inner = self.has_inner.load(SeqCst) && self.is_inner_woken.load(SeqCst);
        self.is_woken.load(SeqCst) || needs_inner
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        self.wake_task_unless_polled();
    }
}

/// The waker of the future inside.
struct InnerWaker(Arc<State>);

impl Wake for InnerWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.is_inner_woken.store(true, SeqCst);
        self.0.wake_task_unless_polled();
    }
}

impl Default for WakeFilter {
    fn default() -> Self {
        let state = Arc::new(State {
            is_polled: AtomicBool::new(false),
            is_woken: AtomicBool::new(false),
            is_inner_woken: AtomicBool::new(false),
            has_inner: AtomicBool::new(false),
            task: Mutex::new(Waker::noop().clone()),
        });
        Self {
            waker: Waker::from(Arc::clone(&state)),
            inner_waker: Waker::from(Arc::new(InnerWaker(Arc::clone(&state)))),
            state,
        }
    }
}

impl WakeFilter {
    /// Polls a part of the task, again for as long as it wakes itself. Only wake-ups that come later reach the task.
    pub fn poll<T>(
        &self,
        context: &Context<'_>,
        mut part: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let state = &*self.state;
        lock(&state.task).clone_from(context.waker());
        state.is_polled.store(true, SeqCst);
        let mut polled = Poll::Pending;
        for _ in 0..MAX_ROUNDS {
            state.is_woken.store(false, SeqCst);
            polled = part(&mut Context::from_waker(&self.waker));
            if polled.is_ready() || !state.needs_poll() {
                break;
            }
        }
        state.is_polled.store(false, SeqCst);
        if polled.is_pending() && state.needs_poll() {
            context.waker().wake_by_ref();
        }
        polled
    }

    /// Waits for a future inside the part. It is polled only when something has woken it, however often the part is polled.
    /// There is one at a time.
    pub async fn await_inner<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        let state = &*self.state;
        let _inner = Inner::begin(state);
        poll_fn(|_| {
            if !state.is_inner_woken.swap(false, SeqCst) {
                return Poll::Pending;
            }
            let mut context = Context::from_waker(&self.inner_waker);
            future.as_mut().poll(&mut context)
        })
        .await
    }
}

/// The future inside, until it ends or is dropped.
struct Inner<'a>(&'a State);

impl<'a> Inner<'a> {
    /// A new future has registered no waker yet, so it counts as woken.
    fn begin(state: &'a State) -> Self {
        state.is_inner_woken.store(true, SeqCst);
        state.has_inner.store(true, SeqCst);
        Self(state)
    }
}

impl Drop for Inner<'_> {
    fn drop(&mut self) {
        self.0.has_inner.store(false, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    /// Counts how often a task is woken.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// A task, and how often it was woken so far.
    fn task() -> (Waker, impl Fn() -> usize) {
        let task = Arc::new(Task::default());
        let waker = Waker::from(Arc::clone(&task));
        (waker, move || task.0.load(SeqCst))
    }

    #[test]
    fn a_part_that_wakes_itself_is_polled_again_and_its_task_is_not_woken() {
        let (waker, woken) = task();
        let filter = WakeFilter::default();
        let rounds = Cell::new(0);
        let polled = filter.poll(&Context::from_waker(&waker), |context| {
            rounds.set(rounds.get() + 1);
            if rounds.get() < 3 {
                context.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        });
        assert_eq!((polled, rounds.get(), woken()), (Poll::Pending, 3, 0));
    }

    #[test]
    fn a_wake_up_after_the_poll_reaches_the_task() {
        let (waker, woken) = task();
        let filter = WakeFilter::default();
        let mut kept = None;
        let polled = filter.poll(&Context::from_waker(&waker), |context| {
            kept = Some(context.waker().clone());
            Poll::<()>::Pending
        });
        assert_eq!((polled, woken()), (Poll::Pending, 0));
        kept.expect("a waker").wake();
        assert_eq!(woken(), 1);
    }

    #[test]
    fn a_part_that_never_rests_lets_other_tasks_have_their_turn() {
        let (waker, woken) = task();
        let filter = WakeFilter::default();
        let mut rounds = 0;
        let polled = filter.poll(&Context::from_waker(&waker), |context| {
            rounds += 1;
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        });
        assert_eq!((polled, rounds, woken()), (Poll::Pending, MAX_ROUNDS, 1));
    }

    /// A future that counts its polls, keeps the waker it was given, and is ready once told.
    #[derive(Clone, Default)]
    struct Answer {
        polls: Arc<AtomicUsize>,
        waker: Arc<Mutex<Option<Waker>>>,
        is_ready: Arc<AtomicBool>,
    }

    impl Future for Answer {
        type Output = ();

        fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            self.polls.fetch_add(1, SeqCst);
            *lock(&self.waker) = Some(context.waker().clone());
            if self.is_ready.load(SeqCst) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }
    }

    impl Answer {
        fn wake(&self) {
            let waker = lock(&self.waker).clone();
            waker.expect("it was polled").wake();
        }
    }

    #[test]
    fn a_future_inside_is_polled_only_when_it_was_woken() {
        let (waker, woken) = task();
        let (filter, answer) = (WakeFilter::default(), Answer::default());
        let inner = pin!(answer.clone());
        let mut part = pin!(filter.await_inner(inner));
        let mut poll = || filter.poll(&Context::from_waker(&waker), |c| part.as_mut().poll(c));
        assert_eq!((poll(), poll()), (Poll::Pending, Poll::Pending));
        assert_eq!((answer.polls.load(SeqCst), woken()), (1, 0));
        answer.is_ready.store(true, SeqCst);
        answer.wake();
        assert_eq!((woken(), poll()), (1, Poll::Ready(())));
    }

    #[test]
    fn a_wake_up_for_a_future_that_has_ended_does_not_keep_its_task_busy() {
        let (waker, woken) = task();
        let (filter, answer) = (WakeFilter::default(), Answer::default());
        answer.is_ready.store(true, SeqCst);
        {
            let inner = pin!(answer.clone());
            let mut part = pin!(filter.await_inner(inner));
            let context = Context::from_waker(&waker);
            assert!(filter.poll(&context, |c| part.as_mut().poll(c)).is_ready());
        }
        answer.wake();
        let mut rounds = 0;
        let polled = filter.poll(&Context::from_waker(&waker), |_| {
            rounds += 1;
            Poll::<()>::Pending
        });
        assert_eq!((polled, rounds, woken()), (Poll::Pending, 1, 1));
    }

    #[test]
    fn no_wake_up_of_another_thread_is_lost() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        for _ in 0..2_000 {
            let filter = Arc::new(WakeFilter::default());
            let is_done = Arc::new(AtomicBool::new(false));
            let mut other = None;
            let waits = poll_fn(|context| {
                filter.poll(context, |context| {
                    if is_done.load(SeqCst) {
                        return Poll::Ready(());
                    }
                    if other.is_none() {
                        let (is_done, waker) = (Arc::clone(&is_done), context.waker().clone());
                        other = Some(thread::spawn(move || {
                            is_done.store(true, SeqCst);
                            waker.wake();
                        }));
                    }
                    Poll::Pending
                })
            });
            runtime.block_on(waits);
            other.expect("a thread").join().expect("it ends");
        }
    }
}
