import type { Context } from '../../../domain/context.ts'
import { type CaptionSettings, type Captions, versionOf } from '../../../domain/submissions/transcripts/captions.ts'
import { type Html, html } from '../../../html/html.ts'
import { confirmButton } from '../kit/confirm.ts'
import { checkbox, choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { MADE_BY_MACHINE, segmentFields } from '../kit/segment-fields.ts'
import { languageOptions } from './languages.ts'

const NOTICES = new Map([
  ['requested', 'We’re creating the captions. Reload in a minute.'],
  ['saved', 'The captions are saved.'],
  ['deleted', 'The captions are deleted.'],
])

/** Path of the captions of a question's media file. @param language language of the question. */
export const captionsPath = (assetId: string, language = ''): string =>
  `question-media/${assetId}/captions${language && `?${new URLSearchParams({ language }).toString()}`}`

type Facts = { ctx: Context; settings: CaptionSettings; language: string; done: string }

/** Page on which authors request, check, and publish the captions of a question's audio or video. */
export function captionsPage(form: Form, { ctx, settings, language, done }: Facts): Page {
  const { asset, captions } = settings
  const address = pathOf(ctx, `pictures/${asset.id}`)
  const player =
    asset.kind === 'audio'
      ? html`<audio class="w-full" controls preload="metadata" src="${address}" aria-label="Question audio"></audio>`
      : html`<video class="rounded-box video-ground max-h-72 w-full" controls preload="metadata" src="${address}" aria-label="Question video"></video>`
  return {
    title: 'Captions',
    subtitle: 'Text shown while the audio or video plays',
    trail: [['Assessments', pathOf(ctx, 'assessments')]],
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}<div class="space-y-6" data-attempt>${panel('file', 'Audio or video', player)}
${captions?.state === 'ready' ? correction(form, ctx, asset.id, captions) : request(form, ctx, settings, language)}</div>`,
  }
}

const request = (form: Form, ctx: Context, { asset, captions, canRequest }: CaptionSettings, language: string): Html => {
  const address = pathOf(ctx, captionsPath(asset.id))
  if (captions?.state === 'queued')
    return panel(
      'state',
      'In progress',
      html`<p>We’re creating the captions. Reload in a minute.</p>${deletion(address, 'Cancel')}`,
    )
  const failure = captions && html`<p class="alert alert-soft alert-warning mb-3">No captions could be made.</p>`
  if (!canRequest)
    return panel('state', 'No captions', html`${failure}<p>Transcripts are off. An admin can switch them on in the settings.</p>`)
  return panel(
    'state',
    'No captions',
    html`${failure}<p class="mb-3">The sound is sent to ${ctx.deps.transcriber?.host}, which turns it into text. You check the text before candidates see it.</p>
<form method="post" action="${`${address}/request`}">
${choice(form, { name: 'language', label: 'Language that is spoken', options: [['', 'Not specified'], ...languageOptions([language])], value: language })}
<button class="btn btn-primary">Make captions</button>
</form>`,
  )
}

function correction(form: Form, ctx: Context, assetId: string, captions: Captions): Html {
  const { segments, changedAt, publishedAt } = captions
  const address = pathOf(ctx, captionsPath(assetId))
  return panel(
    'words',
    'Captions',
    html`<p class="facts mb-3">${changedAt === null ? MADE_BY_MACHINE : 'Checked by an author.'} ${publishedAt ? 'Candidates see them.' : 'Candidates don’t see them yet.'}</p>
<form method="post" action="${address}" data-transcript>
<input type="hidden" name="seen" value="${form.values.get('seen') ?? versionOf(captions).toISOString()}">
${segments.length > 0 ? segmentFields(form, segments) : html`<p class="mb-3">No words were recognized.</p>`}
${checkbox(form, { name: 'isPublished', label: 'I have checked these captions: show them to candidates', checked: publishedAt !== null })}
<button class="btn btn-primary mt-3">Save</button>
</form>${deletion(address, 'Delete')}`,
  )
}

const CONSEQUENCES = {
  Cancel: 'The request is canceled.',
  Delete: 'Candidates stop seeing them. You can create new ones.',
}

const deletion = (address: string, label: keyof typeof CONSEQUENCES): Html =>
  html`<div class="mt-4">${confirmButton({ label, question: `${label} these captions?`, consequence: CONSEQUENCES[label], address: `${address}/delete` })}</div>`
