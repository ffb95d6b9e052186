import { describe, expect, it, onTestFinished } from 'vitest'
import type { ServiceContext } from '../../src/domain/context.ts'
import { replaceRecoveryCodes } from '../../src/domain/sign-in/recovery-codes.ts'
import { encryptSecondStep } from '../../src/domain/sign-in/second-step.ts'
import { startSession } from '../../src/domain/sign-in/sessions.ts'
import { codeAt, giveApp, readOffer, recoveryCodesIn } from '../support/factors.ts'
import { SECRET_KEY } from '../support/known-secrets.ts'
import { openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'

async function start() {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { db, deps } = database
  const system = { ...database.system, deps: { ...deps, secretKeys: [SECRET_KEY] } } as unknown as ServiceContext & {
    db: typeof db
  }
  const { id: organizationId } = await database.make.organization()
  /** Creates a person with sign-in data. The test never enters their password. */
  const makePerson = async () => {
    const member = await database.make.member(organizationId)
    const data = {
      id: deps.newId(),
      email: member.email,
      passwordHash: 'none',
      passwordChangedAt: new Date(),
      createdAt: new Date(),
      emailVerifiedAt: new Date(),
    }
    const credential = await db.credential.create({ data })
    await db.member.update({ where: { id: member.id }, data: { credentialId: credential.id } })
    return credential
  }
  const launch = () => startProcess({ DATABASE_URL: database.url })
  return { db, system, makePerson, launch, organizationId }
}

const send = (service: ServiceProcess, path: string, cookie: string, fields: Record<string, string>) =>
  fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(fields),
  })

describe('a code sent to two processes at the same instant', () => {
  it.each(['of an app', 'for recovery'])('signs in only once if it is %s', async (kind) => {
    const { db, system, makePerson, launch } = await start()
    const processes = [await launch(), await launch()]
    const people = []
    for (let i = 0; i < scaled(15, 50); i++) {
      const credential = await makePerson()
      const secret = await giveApp(system, credential.id)
      const [recoveryCode] = await replaceRecoveryCodes(system, credential.id)
      people.push({ credential, secret, recoveryCode: recoveryCode! })
    }
    for (const { credential, secret, recoveryCode } of people) {
      const code = kind === 'of an app' ? codeAt(secret, new Date()) : recoveryCode
      const cookie = `second-step=${encryptSecondStep(system, { ...credential, mustChange: false })}`
      const answers = await Promise.all(processes.map((service) => send(service, '/portal/second-step', cookie, { code })))
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 422])
      expect(await db.session.count({ where: { credentialId: credential.id } })).toBe(1)
    }
  })
})

it('sets up an app together with its recovery codes or not at all if the process is killed meanwhile', async () => {
  const { db, system, makePerson, launch } = await start()
  const outcomes: string[] = []
  for (let i = 0; i < scaled(3, 40); i++) {
    const service = await launch()
    const credential = await makePerson()
    const browser = { userAgent: 'A test', network: '192.0.2.1', isShared: false, isInside: false }
    const cookie = `session=${(await startSession(system, credential, browser, ['password']))!.token}`
    const page = await (await fetch(`${service.url}/portal/factors/app`, { headers: { cookie } })).text()
    const { sealed, secret } = readOffer(page)
    const answering = send(service, '/portal/factors/app', cookie, { sealed, name: 'Phone', code: codeAt(secret, new Date()) })
    const answered = answering.then(async (answer) => recoveryCodesIn(await answer.text()).length).catch(() => 0)
    setTimeout(() => service.kill('SIGKILL'), i * scaled(16, 8))
    const shown = await answered
    await service.exited
    const { authVersion } = await db.credential.findUniqueOrThrow({ where: { id: credential.id } })
    const where = { credentialId: credential.id }
    const proofs = await db.sessionAuthentication.count({ where: { session: where, kind: 'totp' } })
    const [factors, codes] = [await db.secondFactor.count({ where }), await db.recoveryCode.count({ where })]
    const state = JSON.stringify([factors, codes, authVersion, proofs])
    expect(['[1,8,1,1]', '[0,0,0,0]']).toContain(state)
    if (shown > 0) expect(state).toBe('[1,8,1,1]') // recovery codes that were shown are stored
    outcomes.push(state)
  }
  expect(outcomes).toHaveLength(scaled(3, 40))
})
