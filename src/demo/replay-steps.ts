import type { Context, ServiceContext } from '../domain/context.ts'

/** @property at milliseconds since 1970. */
export type DemoStep = { at: number; run: (ctx: Context) => Promise<unknown> }

/** Sets the context's clock. @param time milliseconds since 1970. */
export const withClockAt = <Ctx extends ServiceContext>(ctx: Ctx, time: number): Ctx => ({
  ...ctx,
  deps: { ...ctx.deps, clock: () => new Date(time) },
})

/** Runs the steps in order of time with the clock set back, so that ids, events, and audit entries are ordered too. */
export async function replaySteps(ctx: Context, steps: readonly DemoStep[]): Promise<void> {
  for (const { at, run } of steps.toSorted((a, b) => a.at - b.at)) await run(withClockAt(ctx, at))
}
