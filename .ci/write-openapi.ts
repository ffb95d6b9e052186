// Writes the interfaces' OpenAPI documents to a folder, by default node_modules/.cache/openapi, for the linter and the typed client. Builds the
// app without a database and a queue.

import { mkdir, writeFile } from 'node:fs/promises'
import { pino } from 'pino'
import { createDb, openPool } from '../src/db/client.ts'
import { noApiKeyCache } from '../src/domain/api-keys/api-key-cache.ts'
import { PASSWORD_COST } from '../src/domain/sign-in/passwords.ts'
import { createLinks } from '../src/http/addresses/links.ts'
import { kinds } from '../src/kinds/index.ts'
import { shippedLanguages as languages } from '../src/locales/languages.ts'
import { openFolder } from '../src/media/folder.ts'
import { buildApp } from '../src/runtime/app.ts'
import { loadConfig } from '../src/runtime/config.ts'
import { openErasureLog } from '../src/runtime/erasure-log.ts'
import { createMetrics } from '../src/runtime/metrics.ts'
import { createIdentityProviders } from '../src/sso/identity-providers.ts'

const config = loadConfig({ STOP_NOTICE: '0', PUBLIC_HOSTS: 'assess.test' })
const log = pino({ level: 'silent' })
const metrics = createMetrics()
const site = { publicUrl: config.publicUrl, secretKeys: ['unused'] }
const links = createLinks(site)
const app = await buildApp(config, {
  languages,
  system: {
    actor: { kind: 'system' },
    db: createDb(openPool('postgresql://unused')),
    deps: {
      release: { version: 'unused', commit: undefined },
      apiKeyCache: noApiKeyCache,
      queue: {
        invitationEmailJobs: async () => ({ text: '', values: [] }),
        enqueueMemberEmails: async () => {},
        enqueueRegistrationEmails: async () => {},
        enqueueRegistrations: async () => {},
        enqueueMailEvent: async () => {},
        bringMailForward: async () => 0,
        bringDelayedMailForward: async () => {},
        enqueueInviteBatch: async () => {},
        enqueueBulkChange: async () => {},
        enqueueLibraryImport: async () => {},
        enqueueAnswerKeyCorrection: async () => {},
        enqueueTestDataDeletion: async () => {},
        enqueueTranscript: async () => {},
        enqueueErasure: async () => {},
        enqueueSuspension: async () => {},
        purgeOrganization: async () => 0,
        enqueueArchive: async () => {},
        purgeMails: async () => 0,
        enqueueRecording: async () => {},
        enqueuePasswordReset: async () => {},
        enqueueFailedSignIn: async () => {},
      },
      media: openFolder('unused'),
      erasureLog: openErasureLog('unused'),
      backupsKeptDays: config.backupsKeptDays,
      mediaQuota: config.mediaQuota,
      transcriber: undefined,
      hasOwnPlayer: true,
      candidateMails: { perDay: 0, isCaptured: () => true },
      openLinkMails: { perHour: 0, perDay: 0 },
      events: { recorded: () => {}, head: () => 0n },
      replica: () => undefined,
      links,
      site,
      typesetReport: async () => new Uint8Array(),
      writeArchive: async () => {},
      secretKeys: ['unused'],
      webhookAllowance: config.webhookAllowance,
      ssoAllowance: config.ssoAllowance,
      identityProviders: createIdentityProviders(config.ssoAllowance, { clock: () => new Date(), log }),
      operatorProviders: config.operatorProviders,
      isBreached: async () => false,
      passwordCost: PASSWORD_COST,
      ats: config.ats,
      languages,
      clock: () => new Date(),
      newId: () => crypto.randomUUID(),
      kinds,
      random: () => 0,
      log,
      metrics,
      traffic: { answeredAt: -Infinity },
    },
  },
  log,
  site,
  mailSettings: { languages, links, mailFrom: config.mailFrom, kinds },
  metrics,
  mailEventReaders: {},
  redis: undefined,
  findProblems: async () => [],
})
const [, , folder = 'node_modules/.cache/openapi'] = process.argv
await mkdir(folder, { recursive: true })
for (const name of ['v1', 'alternate']) {
  // Requests the documents by the public host, so that they contain it.
  const { body } = await app.inject({ url: `/docs/${name}/openapi.json`, headers: { host: 'assess.test' } })
  await writeFile(`${folder}/${name}.json`, body)
}
await app.close()
