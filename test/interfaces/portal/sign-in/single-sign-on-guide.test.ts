import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { ProviderSignInProblem } from '../../../../src/domain/single-sign-on/oidc-callback.ts'
import { signInRefusedPage } from '../../../../src/interfaces/portal/sign-in/single-sign-on.page.ts'

const guide = readFileSync('docs/guides/single-sign-on.md', 'utf8')
/** Every problem: a missing one is a type error. */
const problems: Record<ProviderSignInProblem, true> = {
  expiredSignIn: true,
  idpDenied: true,
  idpUnreachable: true,
  clock: true,
  badToken: true,
  claimMissing: true,
  notInvited: true,
  inactive: true,
  otherIdentity: true,
  hasAccount: true,
  needsMailedLink: true,
  unproven: true,
  needsSso: true,
  otherPerson: true,
  linkedElsewhere: true,
}

it('lists the title of each rejection page in the guide', () => {
  const shown = guide.slice(guide.indexOf('## Errors')).matchAll(/^\| ([^|]+) \|/gm)
  const titles = [...shown].map(([, title]) => title!.trim())
  const refused = { provider: 'Acme', organization: 'Acme', retryAddress: '/' }
  for (const problem of Object.keys(problems) as ProviderSignInProblem[])
    expect(titles).toContain(signInRefusedPage({ problem, ...refused }).title)
})
