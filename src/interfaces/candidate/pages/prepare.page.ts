import type { SessionProblem } from '../../../domain/errors.ts'
import { CHECKS, PHOTOS, REQUIREMENTS, type Requirement, requirementsOf } from '../../../domain/submissions/needs.ts'
import type { Preparation } from '../../../domain/submissions/taking/read-progress.ts'
import type { Submission } from '../../../domain/submissions/taking/session.ts'
import { type Html, html } from '../../../html/html.ts'
import { button, notice, pathOf, type View } from '../kit/layout.ts'

const MISSING: Record<Requirement, string> = {
  camera: 'The check of your camera.',
  microphone: 'The check of your microphone.',
  screen: 'The check of sharing your screen.',
  id_photo: 'The photo of your identity document.',
  face_photo: 'The photo of your face.',
}

type Prepared = { preparation: Preparation; submission: Submission; refusal: SessionProblem | undefined }

/**
 * Device check, photos and Start.
 *
 * @param refusal why Start, which has just been pressed, was refused.
 */
export function prepareSection(view: View, { preparation: { needs, photos, missing }, submission, refusal }: Prepared): Html {
  const { waivedChecks } = view.invite
  const asked = requirementsOf(needs).filter((requirement) => !waivedChecks.includes(requirement))
  const list = (words: readonly string[]) => words.join(' ')
  const open = REQUIREMENTS.filter((requirement) => missing.includes(requirement))
  return html`<section class="mt-8" data-prepare aria-labelledby="prepare-heading" data-session="${`${pathOf(view)}/session`}" data-checks="${list(CHECKS.filter((check) => asked.includes(check)))}" data-passed="${list(submission.passedChecks)}" data-photos="${list(PHOTOS.filter((photo) => asked.includes(photo)))}" data-taken="${list(PHOTOS.filter((photo) => photos[photo]))}" data-choice="${String(needs.choice)}">
<h2 id="prepare-heading">Before you start</h2>
${
  asked.length > 0 &&
  html`<noscript><div class="notice alert alert-soft alert-warning my-4"><p>This assessment records, and that needs JavaScript: please allow it for this page, or open the link in another browser. Without it you can not start.</p></div></noscript>`
}
${
  open.length > 0 &&
  notice(
    refusal ? 'error' : 'info',
    html`<p>${refusal ? 'Not started yet. Still missing:' : 'Still missing before you can start:'}</p>
<ul class="list-inside list-disc" data-missing>${open.map((requirement) => html`<li data-requirement="${requirement}">${MISSING[requirement]}</li>`)}</ul>`,
    refusal ? 'alert' : 'note',
  )
}
${
  refusal === 'quota' &&
  notice(
    'error',
    html`<p>Not started: there is no room for recordings at the moment. This is not your fault. Please tell ${view.invite.organization.name}, and try again later.</p>`,
    'alert',
  )
}
<p>The questions come one at a time, in their order, and none comes back. Once you have started, the time runs, also while this page is closed.</p>
${button(view, 'start', 'Start')}</section>`
}
