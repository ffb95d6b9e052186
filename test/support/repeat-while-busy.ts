/** Repeats a request while it gets a 503, like a client. On a busy machine, many requests that wait for one row may take too long. */
export async function repeatWhileBusy<Answer extends { status: number }>(send: () => PromiseLike<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send()
    if (answer.status !== 503) return answer
  }
}
