// npm run bench: measures the goals of docs/performance.md. They are defined in goals.ts, the command line in options.ts.
import { addEndpoint, type BenchContext } from './beside.ts'
import type { RequestCase } from './cases.ts'
import { startDatabase } from './database.ts'
import { endOnSignals, isEnding, runCleanups } from './endings.ts'
import { fill } from './fill.ts'
import { GOALS, type Goal, judge, MEMORY, type Verdict } from './goals.ts'
import { type Figures, measureInTurn, watchMemory } from './measure.ts'
import { readOptions } from './options.ts'
import { startComparedServer, startService, startSink } from './servers.ts'

const options = readOptions(process.argv.slice(2))
const verdicts: Verdict[] = []
let failed = 0
endOnSignals()
try {
  await run()
} catch (error) {
  if (!isEnding()) console.error(error)
  process.exitCode = 1
} finally {
  await runCleanups()
}

async function run(): Promise<void> {
  const database = await startDatabase()
  const organizations = await fill(database, options)
  const context = { database, organizations, sink: await startSink(), ...options }
  const chosen = GOALS.filter(({ isLong }) => options.all || !isLong)
    .flatMap((goal) => goal.cases(organizations).map((of) => ({ of, goal, name: `${goal.name}: ${of.name}` })))
    .filter(({ name }) => options.only.test(name))
  if (chosen.length === 0) throw new Error('No case has such a name')
  const requestCases = chosen.flatMap(({ of, ...about }) => ('targets' in of ? [{ ...about, ...of, name: about.name }] : []))
  if (requestCases.length > 0) await measureRequestCases(requestCases, context)
  for (const { of, goal, name } of chosen) if ('measure' in of) await recordResult(goal, name, of.measure(context))
  report()
}

/** Measures all cases with one process of each server. */
async function measureRequestCases(
  requestCases: (RequestCase & { goal: Goal })[],
  { database, organizations, sink }: BenchContext,
): Promise<void> {
  const service = await startService(database, sink)
  const [floor, plain] = [await startComparedServer('floor', database), await startComparedServer('plain', database)]
  for (const organization of [organizations.service, organizations.floor]) await addEndpoint(service, organization, sink)
  const measureAll = async () => {
    for (const { goal, name, targets } of requestCases)
      await recordResult(goal, name, measureInTurn(targets, { service, floor, plain }, database, { ...options, ...goal }))
  }
  const memory = GOALS.find(({ name }) => name === MEMORY)!
  await recordResult(memory, MEMORY, watchMemory(service.pid, measureAll()))
  for (const server of [service, floor, plain]) await server.stop()
}

/** Prints the verdicts of a case, or the error that it failed with. */
async function recordResult(goal: Goal, name: string, measuring: Promise<Figures>): Promise<void> {
  try {
    const judged = judge(goal, await measuring)
    verdicts.push(...judged)
    for (const verdict of judged) print(name, [verdict], verdict.of.map((figure) => figure.toPrecision(3)).join(' over '))
  } catch (error) {
    if (isEnding()) throw error
    failed++
    process.stdout.write(`${name.padEnd(70)} FAILED: ${(error as Error).message}\n`)
  }
}

/** Prints one line for each goal, with the range over its cases. */
function report(): void {
  process.stdout.write('\n')
  for (const of of Map.groupBy(verdicts, ({ goal, what }) => `${goal}, ${what}`).values()) print(of[0]!.goal, of)
  const unmet = verdicts.filter(({ isMet }) => !isMet).length
  process.stdout.write(`\n${unmet} goals not met, ${failed} cases failed\n`)
  if (failed > 0) process.exitCode = 1
}

/** Prints the lowest and the highest value. */
function print(name: string, of: Verdict[], computed = ''): void {
  const values = of.map(({ value }) => value).sort((a, b) => a - b)
  const range = [...new Set([values[0], values.at(-1)])].map((value) => value!.toFixed(2)).join(' to ')
  const [{ what, bound }] = of as [Verdict]
  const met = of.every(({ isMet }) => isMet) ? 'met' : 'NOT met'
  process.stdout.write(
    `${name.padEnd(70)} ${what.padEnd(30)} ${range.padStart(15)}  ${bound.padEnd(6)} ${met.padEnd(8)} ${computed}\n`,
  )
}
