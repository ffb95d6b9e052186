import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { ConfigError, loadConfig } from './config.ts'
import { welcome } from './demo/welcome.ts'
import { createDependencies } from './dependencies.ts'
import { createLog } from './log.ts'

/** sysexits.h: EX_CONFIG. */
const EXIT_BAD_CONFIGURATION = 78

async function main(): Promise<void> {
  const config = loadConfig(process.env)
  const log = createLog(config.logLevel)
  const dependencies = await createDependencies(config, log)
  const { deps, mailSettings } = dependencies
  const standalone = config.databaseUrl === undefined
  const app = await buildApp({
    deps,
    log,
    mailSettings,
    rateLimits: config.rateLimits,
    alternate: config.alternate,
    trustProxy: config.trustProxy,
    playerUrl: config.playerUrl,
    showMailbox: standalone && config.smtpUrl === undefined,
  })
  closeWithGrace({ delay: 10_000, logger: log }, async ({ err }) => {
    if (err) log.error({ err }, 'stopping after an error')
    await app.close()
    await dependencies.dispose()
  })
  await app.listen({ port: config.port, host: config.host })
  if (standalone) await welcome(deps, mailSettings)
}

main().catch((error) => {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exit(error instanceof ConfigError ? EXIT_BAD_CONFIGURATION : 1)
})
