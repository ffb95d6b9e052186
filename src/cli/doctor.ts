import type { Command } from 'commander'
import { startEmbeddedDatabase } from '../db/embedded.ts'
import { type Config, ConfigError, loadConfig } from '../runtime/config.ts'
import { openErasureLog } from '../runtime/erasure-log.ts'
import { readSecret } from '../runtime/secret.ts'
import { checkDatabase } from './check-database.ts'
import {
  checkBounceMailbox,
  checkFileScanner,
  checkMailServer,
  checkMedia,
  checkProcessLimits,
  checkProxy,
  checkPublicAddress,
  checkRedis,
  checkReplicas,
  checkSecret,
  checkTranscriber,
  type DoctorCheck,
  ok,
} from './check-environment.ts'
import { EXIT_BAD_CONFIGURATION, EXIT_FAILED } from './exit-codes.ts'
import { describeError, type OutputOptions, table } from './output.ts'
import { addCommand } from './session.ts'

/** `doctor`: checks the installation. It changes nothing, except for a byte written to the media store and deleted again. */
export function addDoctorCommand(program: Command): void {
  addCommand(program, 'doctor', 'check configuration, database, queue, mail server, and media store').action(
    async (options: OutputOptions) => {
      const { checks, exitCode } = await examine()
      const lines = checks.map(({ name, problem, message }) => [problem ? 'problem' : 'ok', name, message])
      process.stdout.write(options.json ? `${JSON.stringify({ checks }, null, 2)}\n` : table(['STATE', 'CHECK', 'WHAT'], lines))
      process.exitCode = exitCode
    },
  )
}

async function examine(): Promise<{ checks: DoctorCheck[]; exitCode: number }> {
  const config = readConfig()
  if (Array.isArray(config)) return { checks: config, exitCode: EXIT_BAD_CONFIGURATION }
  const checks = [
    { name: 'configuration', problem: false, message: 'complete' },
    ...(await examineDatabase(config)),
    ...(config.databaseReadUrls.length > 0 ? [await checkReplicas(config.databaseReadUrls)] : []),
    checkPublicAddress(config),
    await checkProxy(config),
    await checkSecret(config),
    await checkMailServer(config),
    ...(config.bounces.mailbox ? [await checkBounceMailbox(config.bounces.mailbox)] : []),
    await checkMedia(config),
    await checkProcessLimits(),
    ...(config.fileScanUrl ? [await checkFileScanner(config.fileScanUrl)] : []),
    ...(config.transcription ? [await checkTranscriber(config.transcription)] : []),
    ...(config.redisUrl ? [await checkRedis(config.redisUrl)] : []),
  ]
  return { checks, exitCode: checks.some(({ problem }) => problem) ? EXIT_FAILED : 0 }
}

function readConfig(): Config | DoctorCheck[] {
  try {
    return loadConfig(process.env, { serves: true })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map((message) => ({ name: 'configuration', problem: true, message }))
  }
}

const ABANDONED = 'PostgreSQL still ran, because the service was killed; it is stopped now. Each start takes such a server over'

async function examineDatabase({ databaseDirectUrl, dataDir, ...config }: Config): Promise<DoctorCheck[]> {
  const options = { ...config, erasureLog: openErasureLog(config.erasureLog) }
  if (databaseDirectUrl) return checkDatabase(databaseDirectUrl, options)
  try {
    const embedded = await startEmbeddedDatabase({ dataDir })
    options.secretKeys ??= await readSecret(embedded.home)
    const checks = await checkDatabase(embedded.url, options).finally(embedded.release)
    return embedded.wasAbandoned ? [...checks, ok('embedded', ABANDONED)] : checks
  } catch (error) {
    return [{ name: 'database', problem: true, message: describeError(error) }]
  }
}
