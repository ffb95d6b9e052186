import type { Response, Test } from 'supertest'
import { codeAt, enrolApp } from './factors.ts'
import { mistakesIn } from './forms.ts'
import { CLIENT, type Idp, type Person, passThrough, startIdp } from './idp.ts'
import { joinPath, PASSWORD } from './portal.ts'
import { type Service, startServiceForFile } from './service.ts'

/** Settings of a service that allows identity providers on loopback. */
export const IDP_ON_LOOPBACK = { SSO_ALLOW: '127.0.0.1' }

/** A browser without scripts that keeps all its cookies. */
export type Browser = {
  get: (path: string) => Test
  post: (path: string, fields?: Record<string, string | string[]>) => Test
  cookies: Map<string, string>
}

export function browse(service: Service): Browser {
  const cookies = new Map<string, string>()
  const keep = (test: Test): Test =>
    test
      .set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
      .on('response', ({ headers }: Response) => {
        for (const line of [headers['set-cookie'] ?? []].flat()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          if (value === '') cookies.delete(name)
          else cookies.set(name, value)
        }
      })
  return {
    get: (path) => keep(service.http().get(path)),
    post: (path, fields = {}) =>
      keep(service.http().post(path)).set({ 'sec-fetch-site': 'same-origin' }).type('form').send(fields),
    cookies,
  }
}

const pathIn = (address: string): string => {
  const { pathname, search } = new URL(address)
  return pathname + search
}

/** Follows the redirects from a page of the portal to the provider and back. @returns the response of the callback. */
export async function goThrough(browser: Pick<Browser, 'get'>, idp: Idp, begin: string): Promise<Response> {
  let answer = await browser.get(begin)
  while (answer.status === 303 && answer.headers.location!.startsWith(idp.issuer)) {
    answer = await browser.get(pathIn(await passThrough(idp, answer.headers.location!)))
  }
  return answer
}

/** Signs in at the provider, but does not request the callback. @returns the path of the callback. */
export async function wayBack(browser: Pick<Browser, 'get'>, idp: Idp, begin: string): Promise<string> {
  const { headers } = await browser.get(begin)
  return pathIn(await passThrough(idp, headers.location!))
}

/** Returns the fields of a provider's form. */
export const providerFields = (idp: Pick<Idp, 'issuer'>, more: Record<string, string | string[]> = {}) => ({
  name: 'Acme Login',
  issuer: idp.issuer,
  ...CLIENT,
  secretExpiresAt: '',
  secondFactor: 'ours',
  clientAuth: 'client_secret_basic',
  acrValues: '',
  requiredClaims: '',
  defaultRoles: 'grader',
  ...more,
})

/**
 * Enforces single sign-on for an organization of {@link setUpSso} on the pages of the portal: the admin sets up an app, signs in with it, gets
 * the break-glass exception, and tries the provider.
 *
 * @returns the admin's browser, signed in with their password and app; the path of the settings; the response to enforcing single sign-on; and
 *   a function that signs the admin in again.
 */
export async function makeOnlyWayIn(service: Service, { admin, idp, page, person }: Awaited<ReturnType<typeof setUpSso>>) {
  const { secret } = await enrolApp(admin, service.clock.now)
  const signIn = async () => {
    service.clock.advance(60_000)
    const browser = browse(service)
    await browser.post('/portal/sign-in', { email: admin.email, password: PASSWORD, next: '/portal' })
    await browser.post('/portal/second-step', { code: codeAt(secret, service.clock.now()), next: '/portal' })
    return browser
  }
  const owner = await signIn()
  const settings = `${admin.home}settings/sign-in`
  await owner.post(`${settings}/own-ways`, { email: admin.email, signInException: 'break_glass' })
  idp.person = person('ada')
  await goThrough(owner, idp, `${page}/try`)
  const answer = await owner.post(`${settings}/enforce`, { ssoSessionHours: '12' })
  return { owner, settings, answer, signIn }
}

let domains = 0
/** Replaces DNS: every domain of the service has the text record that verifies it. */
export function answerTextRecords(service: Service): void {
  const { deps, db } = service
  const textRecords = async (name: string) =>
    (await db.signInDomain.findMany({ where: { domain: name.replace('_assessment-sign-in.', '') } })).map(({ token }) => token)
  deps.identityProviders = { ...deps.identityProviders, textRecords }
}

/**
 * Creates an organization whose admin has set up single sign-on and verified a domain on the pages of the portal.
 *
 * @param more fields of the provider's form.
 */
export async function setUpSso(service: Service, more: Record<string, string | string[]> = {}) {
  const organization = await service.make.organization()
  const domain = `acme-${++domains}-${service.deps.newId().slice(-6)}.example`
  const email = `ada@${domain}`
  const admin = { ...browse(service), email, home: `/portal/${organization.id}/` }
  const names = { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD }
  await admin.post(await joinPath(service, organization, email), names)
  const added = await admin.post(
    `${admin.home}settings/sign-in/providers`,
    providerFields({ issuer: 'http://127.0.0.1:9999' }, more),
  )
  const providerId = /providers\/([\w-]+)/.exec(added.headers.location ?? '')?.[1]
  if (!providerId) throw new Error(`Setting up was answered ${added.status}: ${mistakesIn(added)}`)
  const begin = `/portal/sign-in/with/${providerId}`
  const redirectUri = service.deps.links.signInUrl(providerId, 'callback')
  const idp = await startIdp({ now: service.clock.now, redirectUri })
  const page = `${admin.home}settings/sign-in/providers/${providerId}`
  const changed = await admin.post(page, providerFields(idp, { clientSecret: '', ...more }))
  if (changed.status !== 303) throw new Error(`Changing was answered ${changed.status}: ${mistakesIn(changed)}`)
  answerTextRecords(service)
  await admin.post(`${admin.home}settings/sign-in/domains`, { domain })
  const { id } = await service.db.signInDomain.findFirstOrThrow({ where: { domain } })
  await admin.post(`${admin.home}settings/sign-in/domains/${id}/verify`)
  const person = (name: string, claims: Partial<Person> = {}): Person => ({
    sub: `${name}-${service.deps.newId()}`,
    email: `${name}@${domain}`,
    email_verified: true,
    given_name: 'Grace',
    family_name: 'Hopper',
    ...claims,
  })
  return { organization, domain, domainId: id, admin, idp, providerId, begin, page, person }
}

/** Path that starts a sign-in with the operator's Microsoft. */
export const WITH_MICROSOFT = '/portal/sign-in/with/microsoft'

/** Starts a service whose operator offers Microsoft, and a provider in Microsoft's place that uses the service's clock. Both stop with the file. */
export async function startWithMicrosoft(settings: Record<string, string> = {}) {
  // The provider starts first, because the service's settings contain its address.
  let service: Service | undefined
  const idp = await startIdp({
    now: () => service?.clock.now() ?? new Date(),
    redirectUri: `http://localhost:3000${WITH_MICROSOFT}/callback`,
  })
  service = await startServiceForFile({
    ...IDP_ON_LOOPBACK,
    MICROSOFT_CLIENT_ID: CLIENT.clientId,
    MICROSOFT_CLIENT_SECRET: CLIENT.clientSecret,
    MICROSOFT_ISSUER: idp.issuer,
    ...settings,
  })
  return { service, idp }
}
