import closeWithGrace from 'close-with-grace'
import fastify, { type FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { type Config, ConfigError, loadConfig } from './config.ts'
import { addressOf, welcome } from './demo/welcome.ts'
import { createDependencies, type Dependencies } from './dependencies.ts'
import { makeFirstKey } from './domain/first-key.ts'
import { createLog } from './log.ts'

/** sysexits.h: EX_CONFIG. */
const EXIT_BAD_CONFIGURATION = 78
/** Milliseconds that requests under way have, and that these and then the mails under way have, after the notice. */
const REQUEST_GRACE_MS = 3_000
const STOP_WITHIN_MS = 8_000

async function main(): Promise<void> {
  const config = loadConfig(process.env)
  const log = createLog(config.logLevel)
  const dependencies = await createDependencies(config, log)
  const { deps, mailSettings, metrics, redis, findProblems } = dependencies
  const showMailbox = config.databaseUrl === undefined && config.smtpUrl === undefined
  const app = await buildApp({
    ...config,
    deps,
    log,
    mailSettings,
    metrics,
    redis,
    findProblems,
    showMailbox,
    departure: { notice: config.stopNotice, grace: REQUEST_GRACE_MS },
  })
  const metricsApp = await serveMetrics(config, dependencies)

  let started: Promise<void> | undefined
  closeWithGrace({ delay: config.stopNotice + STOP_WITHIN_MS, logger: log }, async ({ err, signal }) => {
    if (err) log.error({ err }, 'stopping after an error')
    else log.info({ signal }, 'stopping')
    await started?.catch(() => {}) // main says what is wrong with it
    await app.close()
    await metricsApp?.close()
    await dependencies.dispose()
  })
  started = start(app, config, dependencies, showMailbox)
  await started
}

async function start(app: FastifyInstance, config: Config, dependencies: Dependencies, showMailbox: boolean): Promise<void> {
  await announceFirstKey(config, dependencies)
  await app.listen({ port: config.port, host: config.host })
  if (config.databaseUrl !== undefined) return
  const baseUrl = addressOf(config.publicUrl, app.addresses()[0])
  await welcome(dependencies.deps, { baseUrl, alternatePrefix: config.alternate.prefix, showMailbox })
}

async function serveMetrics({ metrics: settings }: Config, { metrics }: Dependencies): Promise<FastifyInstance | undefined> {
  if (!settings) return undefined
  const app = fastify()
  app.get('/metrics', async (_request, reply) => reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()))
  await app.listen(settings)
  return app
}

/** What INIT_ORG_NAME and INIT_API_KEY_NAME ask for, where it is missing. */
async function announceFirstKey({ init: { organization, apiKey } }: Config, { deps }: Dependencies): Promise<void> {
  const key = organization && (await makeFirstKey(deps, { organization, apiKey }))
  // For whoever reads the output of the first start; the log proper never has it.
  if (key) process.stdout.write(`The API key "${apiKey}" of ${organization}, shown this once: ${key}\n`)
}

main().catch((error) => {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exit(error instanceof ConfigError ? EXIT_BAD_CONFIGURATION : 1)
})
