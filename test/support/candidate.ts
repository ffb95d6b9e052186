import { expect } from 'vitest'
import { signForm, signInvitation } from '../../src/domain/invites/tokens.ts'
import type { Invite } from '../../src/generated/prisma/client.ts'
import type { Service } from './service.ts'

/** What the buttons of the candidate's page are called in its forms' addresses. */
export type Button = 'accept' | 'start' | 'finish' | 'decline'

/** The candidate of an invite, at the page that its present link, or one of another version, leads to. */
export function candidateOf(service: Service, invite: Pick<Invite, 'id' | 'linkVersion'>) {
  const { secretKeys } = service.mailSettings
  const token = signInvitation(secretKeys, { inviteId: invite.id, linkVersion: invite.linkVersion })
  const path = `/i/${token}`
  const proof = signForm(secretKeys, token)
  return {
    token,
    path,
    proof,
    open: () => service.http().get(path),
    /** Presses a button, also one that the page shows no more: the browser may still have the page of a moment ago. */
    press: (button: Button) => service.http().post(`${path}/${button}`).type('form').send({ proof }),
  }
}

/** The Content-Security-Policy of every page, where no player is configured. */
export const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
/** What every page for a candidate promises, whatever is on it. */
export const expectPage = (answer: { status: number; text: string; headers: Record<string, string> }, status: number) => {
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8'])
  expect(answer.headers).toMatchObject({
    'content-security-policy': PAGE_POLICY,
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'referrer-policy': 'no-referrer',
  })
  expect(answer.headers).not.toHaveProperty('set-cookie')
}
