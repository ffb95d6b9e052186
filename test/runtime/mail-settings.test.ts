import { describe, expect, it } from 'vitest'
import { ConfigError, loadConfig } from '../../src/runtime/config.ts'
import { findMisspelledSettings } from '../../src/runtime/misspelled-settings.ts'
import { toSmtpSettings } from '../../src/runtime/smtp-settings.ts'
import { launchService } from '../support/processes.ts'

const REAL = { DATABASE_URL: 'postgresql://db.example.com/assessments', SECRET_KEY: 's'.repeat(32) }
const MAIL = { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'a@example.com' }

/** Problems that prevent the service from starting. */
function problemsOf(env: Record<string, string>): string[] {
  try {
    loadConfig(env, { serves: true })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }
}

describe('a service with a DATABASE_URL', () => {
  it("doesn't start without a mail server, unless mails are captured or other processes send them", () => {
    expect(problemsOf(REAL)).toEqual([expect.stringMatching(/^SMTP_URL: .*MAIL=capture/)])
    expect(problemsOf({ ...REAL, MAIL: 'capture' })).toEqual([])
    expect(problemsOf({ ...REAL, ROLE: 'api' })).toEqual([])
    expect(problemsOf({ ...REAL, ...MAIL })).toEqual([])
    expect(problemsOf({})).toEqual([])
  })

  it('names a misspelled setting, and exits with the code for configuration errors', async () => {
    const service = launchService({ ...REAL, MAIL: '', SMPT_URL: 'smtp://mail.example.com' })
    expect((await service.exited).code).toBe(78)
    expect(service.log().map(({ msg }) => msg)).toEqual([
      expect.stringContaining('SMPT_URL is set, but there is no such setting'),
    ])
  })

  it("doesn't start without a sender", () => {
    expect(problemsOf({ ...REAL, SMTP_URL: MAIL.SMTP_URL })).toEqual([expect.stringMatching(/^MAIL_FROM: is required/)])
  })

  it('ignores MAIL if a login shell has set it to a mailbox path', () => {
    expect(problemsOf({ ...REAL, ...MAIL, MAIL: '/var/mail/service' })).toEqual([])
    expect(loadConfig({ ...REAL, ...MAIL, MAIL: '/var/mail/service' }).smtp.url).toBe(MAIL.SMTP_URL)
    expect(loadConfig({ ...REAL, ...MAIL, MAIL: 'capture' }).smtp.url).toBeUndefined()
  })
})

it('finds variables that look like misspelled settings', () => {
  const env = { SMPT_URL: 'x', SMTP_HOST: 'x', MAILFROM: 'x', TRUST_PROXI: 'x', PATH: 'x', HOSTNAME: 'x', REDIS_PORT: 'tcp://x' }
  expect(findMisspelledSettings(env)).toEqual([
    ['SMPT_URL', 'SMTP_URL'],
    ['SMTP_HOST', 'SMTP_URL'],
    ['MAILFROM', 'MAIL_FROM'],
    ['TRUST_PROXI', 'TRUST_PROXY'],
  ])
})

it('sends the host of its public URL in the greeting to the mail server', () => {
  const named = (PUBLIC_URL: string) => toSmtpSettings(loadConfig({ ...REAL, ...MAIL, PUBLIC_URL }))?.name
  expect(named('https://assess.example.org')).toBe('assess.example.org')
  expect(named('http://localhost:3000')).toBeUndefined()
  expect(named('http://192.0.2.1')).toBeUndefined()
})
