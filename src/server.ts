import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { EXIT_BAD_CONFIGURATION, EXIT_FAILED } from './cli/exit-codes.ts'
import { describeError } from './cli/output.ts'
import { releaseEmbeddedDatabases } from './db/embedded.ts'
import { printFirstSteps, printWelcome } from './demo/welcome.ts'
import { createFirstKey, inviteFirstAdmin } from './domain/members/create-first-key.ts'
import { warnOfOtherHosts } from './domain/sign-in/passkeys.ts'
import { mailboxPath } from './interfaces/mailbox/access.ts'
import { buildApp } from './runtime/app.ts'
import { type Config, ConfigError, lacksTrustedProxy, loadConfig } from './runtime/config.ts'
import { createDependencies, type Dependencies } from './runtime/dependencies.ts'
import { createLog } from './runtime/log.ts'
import { findMisspelledSettings } from './runtime/misspelled-settings.ts'
import { PATHS } from './runtime/paths.ts'
import { release } from './runtime/version.ts'

/** Milliseconds after the notice for requests, and then mails, in progress. */
const STOP_WITHIN_MS = 8_000
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/** npm forwards the Ctrl-C that the terminal already sent to the whole process group: signals within this time count as one. */
const ONE_SIGNAL_MS = 1_000

async function main(): Promise<void> {
  const config = loadConfig(process.env, { serves: true })
  const log = createLog(config.logLevel)
  log.info({ commit: release.commit }, 'starting')
  for (const [name, setting] of findMisspelledSettings(process.env))
    log.warn(`${name} is set, but there is no such setting. Did you mean ${setting}?`)
  const stop = new AbortController()
  const started = start(config, log, stop.signal)
  stopGracefully(log, config.stopNotice + STOP_WITHIN_MS, () => {
    stop.abort()
    return started.catch(() => undefined) // a failed start has closed everything itself
  })
  await started.catch((error) => {
    if (stop.signal.aborted) return // stopped during startup
    log.debug({ err: error }, 'the start failed')
    throw error
  })
}

/**
 * Starts dependencies, then listeners, then the sending of mails, whose links need the port.
 *
 * @returns the open resources. If starting fails, nothing stays open.
 */
async function start(config: Config, log: FastifyBaseLogger, signal: AbortSignal): Promise<AsyncDisposableStack> {
  await using stack = new AsyncDisposableStack()
  const dependencies = await createDependencies(config, log, { signal })
  stack.defer(dependencies.dispose)
  const { system, site } = dependencies
  if (lacksTrustedProxy(config))
    log.warn('PUBLIC_URL is https, but TRUST_PROXY names no proxy: all clients behind it count as one')
  let hasStarted = false
  const findProblems = async () => (hasStarted ? await dependencies.findProblems() : ['starting'])
  const app = await buildApp(config, { ...dependencies, findProblems })
  const metricsApp = await serveMetrics(config, dependencies)
  if (metricsApp) stack.defer(async () => void (await metricsApp.close()))
  await createInitialRows(config, dependencies)
  // Before listening, because a database failure ends the start only until then.
  if (!config.isTrial) await printFirstSteps(system)
  await dependencies.startSweep()
  signal.throwIfAborted()
  await app.listen({ port: config.port, host: config.host })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= app.close())
  stack.defer(close)
  // A stop signal during startup of the work closes the app at once.
  signal.throwIfAborted()
  signal.addEventListener('abort', close)
  site.publicUrl = publicUrlOf(config, app.addresses()[0])
  await warnOfOtherHosts(system)
  await dependencies.startWork()
  await dependencies.findProblems() // logs what is missing
  if (config.isTrial) {
    const { publicUrl } = site
    await printWelcome(system, {
      v1: publicUrl + PATHS.v1,
      alternate: publicUrl + config.alternate.prefix,
      docs: publicUrl + PATHS.docs,
      portal: publicUrl + PATHS.portal,
      mailbox: config.mailbox ? publicUrl + mailboxPath(site.secretKeys) : undefined,
    })
  }
  hasStarted = true
  return stack.move()
}

/**
 * Stops at the first signal or uncaught error. `timeoutMs` after the start has finished or failed, everything is cut off, except that
 * the embedded database is stopped: it would otherwise keep running. The start is not cut off, because no later one would complete its demo
 * organization. A second signal ends the process at once.
 */
function stopGracefully(
  log: FastifyBaseLogger,
  timeoutMs: number,
  finishStart: () => Promise<AsyncDisposable | undefined>,
): void {
  const { close } = closeWithGrace({ delay: false, logger: log, skip: [...STOP_SIGNALS] }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error')
    const opened = await finishStart()
    const hasStopped = await Promise.race([
      Promise.resolve(opened?.[Symbol.asyncDispose]()).then(() => true),
      sleep(timeoutMs, false),
    ])
    if (hasStopped) return
    log.error({ milliseconds: timeoutMs }, 'stopping takes too long: interrupting the remaining work')
    await releaseEmbeddedDatabases()
    process.exit(EXIT_FAILED)
  })
  let since: number | undefined
  const onSignal = (signal: NodeJS.Signals) => {
    if (since === undefined) {
      since = performance.now()
      log.info({ signal }, 'stopping')
      close()
    } else if (performance.now() - since >= ONE_SIGNAL_MS) {
      log.error({ signal }, 'second signal: exiting immediately')
      process.exit(EXIT_FAILED)
    }
  }
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal)
}

/** The public URL. With PORT=0 the port is known after listening. */
const publicUrlOf = ({ publicUrl }: Config, listening: AddressInfo | string | undefined): string =>
  typeof listening === 'object' ? publicUrl.replace(/:0$/, `:${listening.port}`) : publicUrl

async function serveMetrics({ metrics: settings }: Config, { metrics }: Dependencies): Promise<FastifyInstance | undefined> {
  if (!settings) return undefined
  const app = fastify()
  app.get('/metrics', async (_request, reply) => reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()))
  await app.listen(settings)
  return app
}

/** Creates what INIT_ORG_NAME, INIT_API_KEY_NAME, and INIT_ADMIN_EMAIL name, if missing. */
async function createInitialRows(
  { init: { organization, apiKey, adminEmail } }: Config,
  { system }: Dependencies,
): Promise<void> {
  if (!organization) return
  const key = await createFirstKey(system, { organization, apiKey })
  // Standard output only, so that the key never gets into the log.
  if (key) process.stdout.write(`The API key "${apiKey}" of ${organization}, shown this once: ${key}\n`)
  // The link itself is mailed. An operator can print another one.
  if (adminEmail && (await inviteFirstAdmin(system, { organization, email: adminEmail })))
    process.stdout.write(
      `The first admin of ${organization} is invited by mail. To print a link: npm run cli -- member invite '${organization}' ${adminEmail}\n`,
    )
}

/** Logs one line per reason, whatever LOG_LEVEL is. @returns the exit code. */
function explain(error: unknown): number {
  const log = createLog('fatal')
  if (!(error instanceof ConfigError)) {
    const reason = error instanceof SuppressedError ? error.suppressed : error // errors of the cleanup are not the reason
    log.fatal(`The service can not start: ${describeError(reason)}`)
    return EXIT_FAILED
  }
  for (const problem of error.problems) log.fatal(problem)
  return EXIT_BAD_CONFIGURATION
}

// compile.ts only loads this module.
if (import.meta.main) await main().catch((error) => process.exit(explain(error)))
