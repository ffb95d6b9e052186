import { solveChallenge } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Mode } from '../../src/domain/context.ts'
import { inMode } from '../../src/domain/context.ts'
import { changeOpenLink, type OpenLinkSettings } from '../../src/domain/open-links/open-links.ts'
import { signForm } from '../../src/domain/secrets/invitation-tokens.ts'
import { signRegistration } from '../../src/domain/secrets/registration-tokens.ts'
import type { Assessment } from '../../src/generated/prisma/client.ts'
import { createProofChallenge } from '../../src/interfaces/candidate/open/proof-of-work.ts'
import { asOperator } from './portal.ts'
import type { Service } from './service.ts'
import { waitUntil } from './wait-until.ts'

/** Settings of a service whose visitors come from several networks, see `send`. */
export const NETWORKS = { TRUST_PROXY: 'loopback' }

type Fields = { name?: string; email?: string; language?: string; solution?: string }
type Making = { mode?: Mode; settings?: Partial<OpenLinkSettings>; assessment?: Partial<Assessment> }

let networks = 0
/** Returns the address of a network that no other visitor has. */
export const newNetwork = (): string => {
  networks++
  return `10.${(networks >> 16) & 255}.${(networks >> 8) & 255}.${networks & 255}`
}

/** Creates a public assessment with a question, and its open link, which is active by default. */
export async function makeOpenLink(service: Service, { mode = 'live', settings = {}, assessment: data = {} }: Making = {}) {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id, { audience: 'public', questionCount: 1, ...data })
  await service.make.question(assessment)
  const ctx = inMode(asOperator(service, organization), mode)
  const change = (wanted: Partial<OpenLinkSettings>) => changeOpenLink(ctx, assessment.id, wanted)
  const { url } = await change({ isOn: true, ...settings })
  const path = new URL(url!).pathname
  const { id } = await service.db.openLink.findFirstOrThrow({ where: { assessmentId: assessment.id } })
  /** Solves a proof-of-work challenge of minimal effort. */
  const prove = async (): Promise<string> => {
    const effort = { iterations: 1, minimum: 1, maximum: 1 }
    const challenge = await createProofChallenge(service.site.secretKeys, { linkId: id, now: service.clock.now(), effort })
    return JSON.stringify({ challenge, solution: await solveChallenge({ challenge, deriveKey }) })
  }
  const open = (at = path) => service.http().get(at)
  const send = (fields: Fields = {}, { network = newNetwork(), at = path } = {}) =>
    service
      .http()
      .post(`${at}/register`)
      .set('x-forwarded-for', network)
      .type('form')
      .send({ name: 'Amara Duarte', email: 'amara@example.com', language: 'en', ...fields })
  const registrations = (email?: string) =>
    service.db.registration.findMany({
      where: { openLinkId: id, ...(email !== undefined && { email }) },
      // Ids are in the order of creation, and order rows with the same time, because the clock of the tests stands still.
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    })
  /** Sends the form with a proof of work, and waits for its mail. */
  const register = async (email: string, fields: Fields = {}) => {
    const before = new Set((await registrations(email)).map((one) => one.id))
    const answer = await send({ email, solution: await prove(), ...fields })
    if (answer.status !== 200) throw new Error(`The form is answered ${answer.status}`)
    return waitUntil('the mail of a registration', async () =>
      (await registrations(email)).find((one) => !before.has(one.id) && one.sentAt !== null),
    )
  }
  const invites = (recipientEmail?: string) =>
    service.db.invite.findMany({
      where: { assessmentId: assessment.id, ...(recipientEmail !== undefined && { recipientEmail }) },
    })
  return { organization, assessment, ctx, id, path, change, prove, open, send, register, registrations, invites }
}

/** Returns the page that a registration's mail links to, and its buttons. */
export function readerOf(service: Service, { id }: { id: string }) {
  const { secretKeys } = service.site
  const token = signRegistration(secretKeys, id)
  const path = `/open/begin/${token}`
  const press = (action: 'begin' | 'refuse') =>
    service
      .http()
      .post(`${path}/${action}`)
      .type('form')
      .send({ proof: signForm(secretKeys, token) })
  return { path, open: () => service.http().get(path), press }
}
