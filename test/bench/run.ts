// npm run bench: measures the service against what the database could do, against what most would write, and against itself in
// organizations of other sizes. options.ts has what it takes.
import { listPortalRoutes } from '../support/portal-routes.ts'
import { BESIDE, measureBeside } from './beside.ts'
import { type Case, makeCases } from './cases.ts'
import { type BenchDatabase, startDatabase } from './database.ts'
import { DISPATCH, measureDispatch } from './dispatch.ts'
import { endAll, endOnSignals, isEnding } from './endings.ts'
import { fill, type Organizations } from './fill.ts'
import { type Sink, startSink } from './mail-sink.ts'
import { measure, type Result } from './measure.ts'
import { readOptions } from './options.ts'
import { profile } from './profile.ts'
import { measureReplica, REPLICA } from './replica.ts'
import { report, toLines } from './report.ts'
import { startRival, startService } from './rivals.ts'
import { measureStartup, STARTUP } from './startup.ts'
import { judgeMemory, watchMemory } from './usage.ts'
import { verifyRivals } from './verify.ts'
import { addEndpoint } from './webhooks.ts'

const options = readOptions(process.argv.slice(2))
endOnSignals()
try {
  await run()
} catch (error) {
  if (!isEnding()) console.error(error)
  process.exitCode = 1
} finally {
  await endAll()
}

async function run(): Promise<void> {
  const begun = Date.now()
  const tell = (what: string) => console.error(`${((Date.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${what}`)
  tell('starting the database')
  const database = await startDatabase()
  tell('filling it')
  const organizations = await fill(database.pool, options)
  tell('filled')
  const sink = await startSink()
  const cases = makeCases(organizations, await listPortalRoutes()).filter(
    ({ name, isVariation }) => options.only.test(name) && (options.variations || !isVariation),
  )
  const others = otherCases({ database, organizations, sink, ...options }).filter(
    ({ name }) => options.only.test(name) && options.variations,
  )
  if (cases.length + others.length === 0) throw new Error('No case has such a name')
  if (options.profile) {
    tell('profiling')
    return profile(cases, database, sink.url, options)
  }
  const results: Result[] = []
  const note = (result: Result) => {
    tell(toLines(result).join('\n').trimStart())
    results.push(result)
  }
  if (cases.length > 0) await measureCases(cases, { database, organizations, sink }, note, tell)
  for (const { name, run } of others) {
    tell(name)
    note(await run().catch(asFailure(name)))
  }
  await report(results, options)
  if (results.some(({ failure }) => failure !== undefined)) process.exitCode = 1
}

type Surroundings = { database: BenchDatabase; organizations: Organizations; sink: Sink }

type Other = { name: string; run: () => Promise<Result> }

/** What is measured with processes of its own. */
function otherCases(surroundings: Parameters<typeof measureDispatch>[0]): Other[] {
  return [
    { name: DISPATCH, run: () => measureDispatch(surroundings) },
    { name: BESIDE.webhooks, run: () => measureBeside('webhooks', surroundings) },
    { name: BESIDE.recordings, run: () => measureBeside('recordings', surroundings) },
    { name: REPLICA, run: () => measureReplica(surroundings) },
    { name: STARTUP, run: measureStartup },
  ]
}

/** One process of each rival lives through all of the cases. */
async function measureCases(
  cases: Case[],
  { database, organizations, sink }: Surroundings,
  note: (result: Result) => void,
  tell: (what: string) => void,
): Promise<void> {
  tell('starting the rivals')
  const [service, floor, plain] = await Promise.all([
    startService(database, { smtpUrl: sink.url }),
    startRival('floor', database),
    startRival('plain', database),
  ])
  const rivals = { service, floor, plain }
  for (const organization of [organizations.service, organizations.floor]) await addEndpoint(service, organization, sink.hooksUrl)
  await verifyRivals(rivals, organizations)
  tell('measuring')
  const memory = watchMemory(service.pid)
  for (const aCase of cases) {
    const result = await measure(aCase, rivals, database, options).catch(asFailure(aCase.name))
    if (isEnding()) throw new Error('The run was ended')
    note(result)
  }
  note({ name: 'memory', variants: [], checks: judgeMemory(await memory.stop()) })
  for (const rival of [service, floor, plain]) await rival.stop()
}

function asFailure(name: string) {
  return (error: Error): Result => ({ name, variants: [], checks: [], failure: error.message })
}
