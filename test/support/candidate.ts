import { expect } from 'vitest'
import { signForm, signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { CHECKS, PHOTOS, REQUIREMENTS } from '../../src/domain/submissions/needs.ts'
import { CONSENT_VERSION } from '../../src/domain/submissions/taking/record-consent.ts'
import type { Invite } from '../../src/generated/prisma/client.ts'
import type { Service } from './service.ts'

/** Button names by action in the form's URL. */
export type Button =
  | 'accept'
  | 'consent'
  | 'start'
  | 'open'
  | 'begin'
  | 'answer'
  | 'next'
  | 'finish'
  | 'decline'
  | 'language'
  | 'link'

/** Returns the candidate's page of an invite, by the link of this version. */
export function candidateOf(service: Service, invite: Pick<Invite, 'id' | 'linkVersion'>) {
  const { secretKeys } = service.site
  const token = signInvitation(secretKeys, { inviteId: invite.id, linkVersion: invite.linkVersion })
  const path = `/i/${token}`
  const proof = signForm(secretKeys, token)
  /** Presses a button. It may be one that the page no longer shows, because a browser may still show an earlier page. */
  const press = (button: Button, fields: Record<string, string> = {}) =>
    service
      .http()
      .post(`${path}/${button}`)
      .type('form')
      .send({ proof, ...fields })
  return {
    token,
    path,
    proof,
    open: () => service.http().get(path),
    /** Sends a text answer with a button of the question's form. */
    answer: (number: number, text: string, button: 'save' | 'next') =>
      press(
        'answer',
        Object.fromEntries([
          ['number', String(number)],
          ['text', text],
          ['then', button],
        ]),
      ),
    press,
    /** Sends a request as the page's script in a tab. */
    session: (method: 'get' | 'post' | 'put', below = '', { tab, body }: { tab?: string; body?: object | string } = {}) => {
      const request = service.http()[method](`${path}/session${below}`)
      if (tab !== undefined) request.set('x-tab', tab)
      return body === undefined ? request : request.type('json').send(body)
    },
  }
}

/** The Content-Security-Policy of every page if no player is configured. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  "script-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "media-src 'self' blob: https:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
/** Expects the status, content type, and headers of a candidate page. */
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

/** Gives the consent that the page asks for. */
export async function consent(candidate: ReturnType<typeof candidateOf>) {
  const { text } = await candidate.open()
  const hiddenValue = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''
  return candidate.press('consent', {
    version: `${CONSENT_VERSION}`,
    media: hiddenValue('media'),
    language: hiddenValue('language'),
  })
}

/** Requirements of an invite that requires nothing. */
export const NO_REQUIREMENTS = {
  screenRecording: false,
  webcamMonitoring: false,
  requireIdCapture: false,
  facePhotoRequired: false,
}

/** Completes every requirement before the start: consent, checks, and photos. */
export async function prepare(
  { db, deps }: Service,
  { id: inviteId, organizationId, assessmentId }: Pick<Invite, 'id' | 'organizationId' | 'assessmentId'>,
): Promise<void> {
  const now = deps.clock()
  const submissionId = deps.newId()
  const consent = { consentVersion: CONSENT_VERSION, consentMedia: [...REQUIREMENTS], consentAt: now, passedChecks: [...CHECKS] }
  const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
  await db.submission.create({
    data: {
      id: submissionId,
      organizationId,
      inviteId,
      assessmentId,
      ...consent,
      ...limits,
      mediaDeletionDueAt: now,
      createdAt: now,
      updatedAt: now,
    },
  })
  await db.mediaFile.createMany({
    data: PHOTOS.map((kind) => ({
      id: deps.newId(),
      organizationId,
      submissionId,
      kind,
      state: 'ready' as const,
      key: `${organizationId}/${deps.newId()}`,
      contentType: 'image/jpeg',
      createdAt: now,
      completedAt: now,
    })),
  })
}
