import { describe, expect, it } from 'vitest'
import { reopenResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { unknownId } from '../../support/factories.ts'
import { makeSubmitted } from '../../support/grading.ts'
import { hasPoppler, readPdf } from '../../support/pdf.ts'
import { signInAs } from '../../support/portal.ts'
import { RUBRIC, RUBRIC_POINTS } from '../../support/rubrics.ts'
import { startServiceForFile } from '../../support/service.ts'
import { itSlow } from '../../support/slow.ts'
import { makeAccepted } from '../../support/taking.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile()
const textOf = (page: string) =>
  page
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

/** Requests the report on an invite. @param accept value of the header; undefined sends none. */
const askFor =
  ({ organization, invite }: { organization: { key: string }; invite: { id: string } }) =>
  (accept: string | undefined, query = '') => {
    const path = `/invites/${invite.id}/submission/report${query}`
    const asked = service.v1(organization.key).get(path).responseType('arraybuffer')
    return (accept === undefined ? asked : asked.set('accept', accept)).then(({ status, headers, body }) => ({
      status,
      headers: headers as Record<string, string>,
      body: Buffer.from(body),
      text: Buffer.from(body).toString(),
    }))
  }

/** Releases a result that also has texts for graders only. */
async function makeReleased() {
  const made = await makeSubmitted(service)
  const { ctx } = await made.join()
  await made.grade(ctx, 1, 4.5, { comment: 'To the <point>' })
  await made.grade(ctx, 2, 0)
  await made.release(ctx, { comment: 'For the organization', message: 'Thank you, Kim.' })
  return { ...made, ctx, report: askFor(made) }
}

describe('GET /invites/{inviteId}/submission/report', () => {
  it('answers 404 for an unknown or foreign invite, before the start, and before the release', async () => {
    const { organization, invite } = await makeAccepted(service)
    const handedIn = await makeSubmitted(service)
    const other = await makeReleased()
    const outcome = async (key: string, id: string) => {
      const { status, body, headers } = await service.v1(key).get(`/invites/${id}/submission/report`)
      return [status, body.error, headers['x-error-code']]
    }
    const noInvite = [404, 'Invite not found', 'invite_not_found']
    expect(await outcome(organization.key, unknownId)).toEqual(noInvite)
    expect(await outcome(organization.key, '1')).toEqual(noInvite)
    expect(await outcome(organization.key, other.invite.id)).toEqual(noInvite)
    expect(await outcome(organization.key, invite.id)).toEqual([404, 'Submission not found', 'submission_not_found'])
    const unreleased = [404, 'The result has not been released yet', 'result_not_released']
    expect(await outcome(handedIn.organization.key, handedIn.invite.id)).toEqual(unreleased)
    const { ctx } = await handedIn.join()
    await handedIn.grade(ctx, 1, 5, { comment: 'Unreleased' })
    expect(await outcome(handedIn.organization.key, handedIn.invite.id)).toEqual(unreleased)
    await service.db.submission.update({ where: { id: other.submissionId }, data: { state: 'withdrawn' } })
    expect(await outcome(other.organization.key, other.invite.id)).toEqual([404, 'Submission not found', 'submission_not_found'])
  })

  it('contains exactly the released result', async () => {
    const { organization, assessment, invite, ctx, submissionId, grade, release, report } = await makeReleased()
    await service.db.invite.update({ where: { id: invite.id }, data: { recipientName: 'Kim <Lee>' } })
    const { status, headers, text } = await report('text/html')
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toContain("default-src 'none'; style-src 'unsafe-inline'")
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    const shownText = textOf(text)
    const { acceptedAt } = await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
    for (const part of [
      'Result of Kim &lt;Lee&gt;',
      `Organization ${organization.name}`,
      `Assessment ${assessment.name}`,
      `Address ${invite.recipientEmail}`,
      'Points 4.5 of 8 Percent 56 %',
      'Message to the candidate Thank you, Kim.',
      '4.5 of 5 points Comment To the &lt;point&gt;',
      '0 of 3 points',
      'version 1 of the result',
    ])
      expect(shownText).toContain(part)
    for (const label of [...(acceptedAt ? ['Accepted'] : []), 'Started', 'Submitted', 'Released'])
      expect(shownText).toMatch(new RegExp(`${label} \\w+,? \\d+ \\w+ \\d{4} at \\d\\d:\\d\\d UTC`))
    expect(shownText).not.toContain('For the organization')
    await reopenResult(ctx, submissionId)
    await grade(ctx, 1, 5, { comment: 'Graded anew' })
    expect((await report('text/html')).text).toBe(text)
    await release(ctx)
    expect(textOf((await report('text/html')).text)).toContain('Points 5 of 8 Percent 63 %')
  })

  it('states that a result has no points, and contains the question texts', async () => {
    const made = await makeSubmitted(service, { questions: [{ points: 0 }, { points: 0 }] })
    const { ctx } = await made.join()
    await made.release(ctx)
    const shownText = textOf((await askFor(made)('text/html')).text)
    expect(shownText).toContain('None of the questions gives points')
    expect(shownText).not.toContain('Percent')
  })

  it('is a PDF unless the client prefers HTML', async () => {
    const { report, submissionId } = await makeReleased()
    const kindOf = async (accept: string | undefined) => {
      const { status, headers, body } = await report(accept)
      expect([status, headers.vary]).toEqual([200, 'accept'])
      const isPdf = body.subarray(0, 8).toString() === '%PDF-1.7'
      expect(headers['content-type']).toBe(isPdf ? 'application/pdf' : 'text/html; charset=utf-8')
      if (isPdf) expect(headers['content-disposition']).toBe(`inline; filename="report-${submissionId}.pdf"`)
      return isPdf ? 'pdf' : 'html'
    }
    for (const accept of [
      undefined,
      '*/*',
      'application/pdf',
      'application/json',
      'application/pdf, text/html',
      'text/html;q=0.5, */*',
    ])
      expect([accept, await kindOf(accept)]).toEqual([accept, 'pdf'])
    for (const accept of ['text/html', 'text/html, */*;q=0.8', 'application/pdf;q=0.1, text/*', 'TEXT/HTML'])
      expect([accept, await kindOf(accept)]).toEqual([accept, 'html'])
  })

  it.skipIf(!hasPoppler)('contains the same text as PDF and as page', async () => {
    const { report, organization, assessment, invite } = await makeReleased()
    await service.db.invite.update({ where: { id: invite.id }, data: { recipientName: 'Kim <Lee> #let' } })
    const { text, properties } = await readPdf((await report('application/pdf')).body)
    expect(properties).toMatchObject({ Title: 'Result of Kim <Lee> #let', Author: organization.name, Tagged: 'yes' })
    const shownText = text.replace(/\s+/g, ' ')
    for (const part of [
      'Result of Kim <Lee> #let',
      organization.name,
      assessment.name,
      invite.recipientEmail,
      '4.5 of 8',
      '56 %',
      'Thank you, Kim.',
      'Question 1',
      '4.5 of 5 points',
      'To the <point>',
      '0 of 3 points',
      'Page 1 of 1',
    ])
      expect(shownText).toContain(part)
    expect(shownText).not.toContain('For the organization')
  })

  it.each([
    {
      language: 'de',
      html: '<html lang="de">',
      texts: [
        'Ergebnis: Kim Lee',
        '12 von 14',
        '86 %',
        'Einstufung Stark',
        'Nachricht an Sie Thank you, Kim.',
        'Frage 1',
        '9 von 9 Punkten',
        'Accuracy: Complete, 4 von 4',
        'Kommentar To the <point>',
        '1:02 bis 1:04 Omission, 0,5 Punkte Abzug: the date',
        'Fassung 1 des Ergebnisses, freigegeben:',
        'Seite 1 von 1',
      ],
    },
    {
      language: 'ar',
      html: '<html lang="ar" dir="rtl">',
      texts: [
        'النتيجة',
        'Kim Lee',
        '86٪',
        'Stark',
        'رسالة إليكم Thank you, Kim.',
        'السؤال 1',
        'Accuracy',
        'تعليق',
        'نقاط',
        'صفحة',
      ],
    },
  ])('is in the language of its candidate: $language', async ({ language, html, texts }) => {
    const made = await makeSubmitted(service, {
      questions: [{ points: RUBRIC_POINTS, rubric: RUBRIC }, { points: 5 }],
      recipientName: 'Kim Lee',
      language,
    })
    const { organization, assessment, submissionId } = made
    await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['en', 'de', 'ar'] } })
    await service.db.assessment.update({ where: { id: assessment.id }, data: { bands: ['50 Stark'] } })
    const { ctx } = await made.join()
    await made.grade(ctx, 1, null, { levels: [3, 2, 2], comment: 'To the <point>' })
    await made.grade(ctx, 2, 3)
    await made.release(ctx, { message: 'Thank you, Kim.', comment: 'For the organization' })
    const [release] = await made.releases()
    const note = { startMs: 62_000, endMs: 64_000, category: 'Omission', text: 'the date', pointsOff: 0.5 }
    const grades = (release!.grades as { number: number }[]).map((grade) => ({
      ...grade,
      ...(grade.number === 1 && { notes: [note], decidedBy: 'third_grader' }),
    }))
    await service.db.release.updateMany({ where: { submissionId }, data: { grades, knockedOut: [2] } })
    const report = askFor(made)
    const page = (await report('text/html', '?audience=candidate')).text
    expect(page).toContain(html)
    const internals = ['For the organization', 'Knocked out', 'third grader']
    for (const text of internals) expect(page, text).not.toContain(text)
    const own = textOf((await report('text/html')).text)
    for (const text of [...internals.slice(1), 'Result of Kim Lee', '1:02 to 1:04 Omission, 0.5 points off: the date'])
      expect(own, text).toContain(text)
    expect((await report(undefined, '?audience=nobody')).status).toBe(400)
    if (!hasPoppler) return
    const shownText = (await readPdf((await report(undefined, '?audience=candidate')).body)).text.replace(/\s+/g, ' ')
    for (const text of texts) expect(shownText).toContain(text)
    for (const text of internals) expect(shownText, text).not.toContain(text)
  })

  itSlow("is created in fair turns: many requests wait or are rejected before another organization's", async () => {
    const [many, one] = [await makeReleased(), await makeReleased()]
    const made: ('many' | 'one')[] = []
    const refused: (string | undefined)[] = []
    const ask = async (whose: 'many' | 'one', { report }: typeof many) => {
      const { status, headers } = await report('application/pdf')
      if (status === 200) made.push(whose)
      else refused.push(`${status} ${headers['x-error-code']} ${headers['retry-after']}`)
    }
    const asked = Array.from({ length: 24 }, () => ask('many', many))
    await waitUntil('the queue to be full', () => refused[0])
    const before = made.length
    await ask('one', one)
    expect(made.indexOf('one')).toBeLessThanOrEqual(before + 3)
    await Promise.all(asked)
    expect(made.filter((whose) => whose === 'one')).toHaveLength(1)
    expect(new Set(refused)).toEqual(new Set(['429 too_many_reports 5']))
    expect(made.length + refused.length).toBe(25)
  })
})

it('adds an event with the percentage and the address of the portal page', async () => {
  const { organization, invite, submissionId } = await makeReleased()
  const client = service.v1(organization.key)
  const readEvent = async () => (await client.get(`/events?inviteId=${invite.id}&type=submission.released`)).body.events[0]
  const { data } = await waitUntil('the event to be in the feed', readEvent)
  expect(data).toMatchObject({ submissionId, percent: 56.25, reportUrl: expect.any(String) })
  const { pathname } = new URL(data.reportUrl)
  const visitor = await service.http().get(pathname)
  expect([visitor.status, visitor.headers.location]).toEqual([303, `/portal/sign-in?${new URLSearchParams({ next: pathname })}`])
  const admin = await signInAs(service, organization.id, ['admin'])
  const { text } = await admin.get(pathname)
  const link = /<a [^>]*href="([^"]*\/report)"[^>]*>(?:<svg.*?<\/svg>)?\s*Download PDF/s
  expect(link.exec(text)?.[1]).toBe(`${pathname}/report`)
})

it('adds an event without a percentage if no question has points', async () => {
  const made = await makeSubmitted(service, { questions: [{ points: 0 }, { points: 0 }] })
  const { ctx } = await made.join()
  await made.release(ctx)
  const event = await service.db.event.findFirstOrThrow({ where: { inviteId: made.invite.id, type: 'submission.released' } })
  expect(event.data).toMatchObject({ percent: null })
})
