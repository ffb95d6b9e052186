import type { KeptDays } from '../../../domain/submissions/media/forget-media.ts'
import { consentedMedia, type Needs, type Requirement } from '../../../domain/submissions/needs.ts'
import { CONSENT_VERSION } from '../../../domain/submissions/taking/give-consent.ts'
import { type Html, html } from '../../../html/html.ts'
import { wordCount } from '../../../http/pages/candidate-view.ts'
import { form, hidden, type View } from '../kit/layout.ts'

/** How the assessment is taken here, and for how long what is sent in is kept. */
export type Terms = { needs: Needs; keptDays: KeptDays; webcam: 'stills' | 'video' }

const NONE = 'nothing but this page'

/** What is needed, what is recorded, who sees it, and how long it is kept. */
export function termsInWords({ invite }: View, terms: Terms): Html {
  const { needs, keptDays } = terms
  const needed = [
    needs.screen && 'a computer (a phone can not share its screen)',
    (needs.camera || needs.idPhoto || needs.facePhoto) && 'a camera',
    needs.microphone && 'a microphone',
    needs.idPhoto && 'your identity document',
  ].filter((item) => item !== false)
  const proctored = needs.screen || invite.webcamMonitoring
  return html`<h2 class="mt-6 mb-2">What you need, and what is kept</h2>
<dl class="details">
<dt>Needed</dt><dd>${needed.join(', ') || NONE}</dd>
<dt>Recorded</dt><dd>${['your answers', ...recordedBesides(invite.webcamMonitoring, terms), 'when you opened and left each question, and whether this page was in front'].join('; ')}</dd>
<dt>Seen by</dt><dd>${invite.organization.name}: those who run this assessment, and those who grade it</dd>
<dt>Kept</dt><dd>${[
    `answers for ${wordCount(keptDays.answers, 'day')}`,
    proctored && `recordings of the screen and of the webcam for ${wordCount(keptDays.proctoring, 'day')}`,
    (needs.idPhoto || needs.facePhoto) &&
      `photos until ${wordCount(keptDays.idPhoto, 'day')} after the results are released, at the longest as long as the answers`,
  ]
    .filter((item) => item !== false)
    .join(', ')}, or until ${invite.organization.name} deletes them</dd>
</dl>`
}

function recordedBesides(webcamMonitoring: boolean, { needs, webcam }: Terms): string[] {
  const all: [boolean, string][] = [
    [needs.screen, 'your screen, from the start to the end'],
    [webcamMonitoring && webcam === 'stills', 'a picture of your webcam now and then'],
    [webcamMonitoring && webcam === 'video', 'your webcam, from the start to the end'],
    [needs.idPhoto, 'a photo of your identity document'],
    [needs.facePhoto, 'a photo of your face'],
  ]
  return all.filter(([isRecorded]) => isRecorded).map(([, what]) => what)
}

const MEDIA: Record<Requirement, string> = {
  camera: 'your camera',
  microphone: 'your microphone',
  screen: 'your screen',
  id_photo: 'the photo of your identity document',
  face_photo: 'the photo of your face',
}

/** What the candidate agrees to, and the button that says so. */
export function consentForm(view: View, terms: Terms): Html {
  const media = consentedMedia(terms.needs)
  const { name } = view.invite.organization
  return html`<section class="panel mt-6 space-y-3" aria-labelledby="consent-heading">
<h2 id="consent-heading">Your consent</h2>
<p>${name} uses what you send in to assess you, and for nothing else. People look at it: nothing judges faces or voices automatically. Until you start you can go back on it by closing this page; later you can ask ${name} to delete what you have sent in.</p>
${media.length > 0 && html`<p>This page uses ${media.map((medium) => MEDIA[medium]).join(', ')}${terms.needs.choice && '; for questions that leave the choice to you, only if you choose to record'}.</p>`}
${form(
  view,
  'consent',
  html`${hidden('version', CONSENT_VERSION)}
${hidden('media', media.join(' '))}
<button type="submit" class="btn btn-primary btn-lg">I agree</button>`,
)}</section>`
}
