import type { ConsentText } from '../../domain/brand/page-texts.ts'
import type { KeptDays } from '../../domain/submissions/media/delete-expired-media.ts'
import { consentedMedia, type Needs } from '../../domain/submissions/needs.ts'
import { type Html, html } from '../../html/html.ts'
import type { CandidateTexts } from '../../locales/languages.ts'

/**
 * Terms that a candidate accepts before the start.
 *
 * @property keptDays retention in days. @property addition text that the organization adds, in its own language; null: none.
 */
export type ConsentTerms = { needs: Needs; keptDays: KeptDays; webcam: 'stills' | 'video'; addition: ConsentText | null }

type Invitation = { webcamMonitoring: boolean; organization: { name: string } }

/** Needed devices, recordings and their purpose, who sees them, and retention. */
export function termsList(t: CandidateTexts, invitation: Invitation, terms: ConsentTerms): Html {
  const { needs, addition } = terms
  const organization = invitation.organization.name
  const used = t.list(consentedMedia(needs).map((medium) => t.text('consent.medium', { medium })))
  const needed = [
    needs.screen && t.text('terms.needed.computer'),
    (needs.camera || needs.idPhoto || needs.facePhoto) && t.text('terms.needed.camera'),
    needs.microphone && t.text('terms.needed.microphone'),
    needs.idPhoto && t.text('terms.needed.document'),
  ].filter((item) => item !== false)
  return html`<dl class="details [&_dd]:font-normal">
<dt>${t.text('terms.needed')}</dt><dd>${needed.length > 0 ? t.list(needed) : t.text('terms.needed.nothing')}</dd>
${used && html`<dt>${t.text('terms.used')}</dt><dd>${needs.choice ? t.text('terms.used.choice', { used }) : used}</dd>`}
<dt>${t.text('terms.recorded')}</dt><dd>${bulletList(recordedItems(t, invitation, terms))}</dd>
<dt>${t.text('terms.purpose')}</dt><dd>${bulletList([t.text('terms.purpose.assess', { organization }), needs.transcription && t.text('terms.purpose.transcription'), t.text('terms.purpose.people')])}</dd>
<dt>${t.text('terms.seen')}</dt><dd>${bulletList([t.text('terms.seen.by', { organization }), t.text('terms.seen.shared', { organization })])}</dd>
<dt>${t.text('terms.kept')}</dt><dd>${bulletList(retentionItems(t, invitation, terms))}</dd>
<dt>${t.text('terms.withdraw')}</dt><dd>${bulletList([t.text('terms.withdraw.before'), t.text('terms.withdraw.later', { organization })])}</dd>
</dl>${
    addition &&
    html`<section class="space-y-1"><h3>${t.text('consent.own', { organization })}</h3>
<div class="whitespace-pre-line wrap-anywhere" lang="${addition.language}" dir="auto" data-own>${addition.body}</div></section>`
  }`
}

const bulletList = (items: (string | false)[]): Html =>
  html`<ul class="space-y-0.5">${items.map((item) => item !== false && html`<li>${item}</li>`)}</ul>`

const recordedItems = (t: CandidateTexts, { webcamMonitoring }: Invitation, { needs, webcam }: ConsentTerms) => [
  t.text('terms.recorded.answers'),
  needs.screen && t.text('terms.recorded.screen'),
  webcamMonitoring && t.text(webcam === 'stills' ? 'terms.recorded.stills' : 'terms.recorded.webcam'),
  needs.idPhoto && t.text('terms.recorded.document'),
  needs.facePhoto && t.text('terms.recorded.face'),
  t.text('terms.recorded.times'),
]

const retentionItems = (t: CandidateTexts, { webcamMonitoring, organization }: Invitation, { needs, keptDays }: ConsentTerms) => [
  consentedMedia(needs).length > 0 && t.text('terms.kept.answers', { days: keptDays.answers }),
  (needs.screen || webcamMonitoring) && t.text('terms.kept.recordings', { days: keptDays.proctoring }),
  (needs.idPhoto || needs.facePhoto) && t.text('terms.kept.photos', { days: keptDays.idPhoto }),
  t.text('terms.kept.rest', { organization: organization.name }),
  t.text('terms.kept.deleted', { organization: organization.name }),
]
