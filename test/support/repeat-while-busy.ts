/** Sends a request again while the database is too busy for it (503), as clients do: many requests wait for one row on a busy machine. */
export async function repeatWhileBusy<Answer extends { status: number }>(send: () => PromiseLike<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send()
    if (answer.status !== 503) return answer
  }
}
