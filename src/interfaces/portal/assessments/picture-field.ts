import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addPicture } from '../../../domain/assets/add-picture.ts'
import { printPicture } from '../../../domain/assets/references.ts'
import { DomainError } from '../../../domain/errors.ts'
import { MAX_ALT_LENGTH, MAX_PICTURE_BYTES } from '../../../domain/limits.ts'
import { type Html, html } from '../../../html/html.ts'
import { authorOf } from '../../../kinds/authors.ts'
import { ROWS_BUTTON } from '../../../kinds/rows.ts'
import { checkbox, choice, type Form, field, readFields, refuseForm, valuesOf } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import type { Page } from '../kit/layout.ts'
import type { KindPart } from './kind-form.ts'

// Pictures in the form of a question. Any submit button uploads the chosen file; the picture becomes a line of the question's text.

/** Value of the button that only adds the picture, without saving the question. */
const ADD_PICTURE = 'picture'

/** Most characters in all text fields of the form. */
export const MAX_TYPED_CHARACTERS = 256 * 1024
export const QUESTION_BODY_LIMIT = MAX_PICTURE_BYTES + MAX_TYPED_CHARACTERS

export function pictureField(form: Form, kind: KindPart | null): Html {
  const wrong = form.issues.filter((issue) => issue.field === 'picture').map(formatIssue)
  const isOpen = wrong.length > 0 || form.issues.some((issue) => issue.field === 'pictureAlt')
  const places = kind ? (authorOf(kind.word)?.pictured?.(kind.values) ?? []) : []
  return html`<details class="mb-4" ${isOpen && html`open`}><summary class="quiet mb-2 text-sm">Add a picture</summary>
<div class="field"><label class="mb-1.5 block text-sm font-medium" for="picture">Picture</label>
<p class="hint mb-1.5" id="picture-hint">PNG, JPEG, WebP or GIF, up to ${MAX_PICTURE_BYTES / 1e6} MB. The place and time of a photo are removed.</p>
<input class="file-input w-full" type="file" id="picture" name="picture" accept="image/png,image/jpeg,image/webp,image/gif" data-most-bytes="${MAX_PICTURE_BYTES}" aria-describedby="picture-hint${wrong.length > 0 && ' picture-mistake'}" aria-invalid="${wrong.length > 0 ? 'true' : 'false'}">
${wrong.length > 0 && html`<p class="mistake" id="picture-mistake">${wrong.join(' ')}</p>`}</div>
${field(form, { name: 'pictureAlt', label: 'Image description', hint: 'For people who can’t see the picture. Screen readers say it aloud.', optional: true })}
${checkbox(form, { name: 'decorative', label: 'Decorative: needs no description' })}
${places.length > 0 && choice(form, { name: 'pictureIn', label: 'Place', options: [['script', 'In the question'], ...places] })}
<button class="btn btn-sm" name="${ROWS_BUTTON}" value="${ADD_PICTURE}">Add picture</button></details>`
}

/**
 * Stores the picture that came with a form, adds it to the form's values, and continues.
 *
 * @param page shows the form again if the picture is invalid.
 * @param next gets the fields as they were sent: sent again, the picture may have another id.
 */
export async function withPicture(
  request: FastifyRequest,
  reply: FastifyReply,
  page: (form: Form) => Promise<Page>,
  next: (sent: unknown) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const sent = [...valuesOf(request), hash('sha256', request.upload?.bytes ?? '')]
  try {
    await storePicture(request)
  } catch (error) {
    return refuseForm(request, reply, { error, values: valuesOf(request), page })
  }
  return next(sent)
}

/** Stores the file with any of the form's buttons. @throws DomainError invalid: at `picture` and `pictureAlt`. */
async function storePicture(request: FastifyRequest): Promise<void> {
  const values = valuesOf(request)
  const alt = readFields(values, 'pictureAlt').pictureAlt.trim()
  const file = request.upload?.bytes ?? new Uint8Array()
  if (file.length === 0) return refuseMissing(values.get(ROWS_BUTTON), alt)
  const isDecorative = values.has('decorative')
  if (alt === '' && !isDecorative)
    refuse('pictureAlt', 'Describe the picture or mark it as decorative, and choose the file again.')
  if ([...alt].length > MAX_ALT_LENGTH) refuse('pictureAlt', `At most ${MAX_ALT_LENGTH} characters, and choose the file again.`)
  insertPicture(values, printPicture(await addPicture(request.ctx, Buffer.from(file)), isDecorative ? '' : alt))
}

/** Refuses a description without a file, except from buttons that only change rows. */
function refuseMissing(act: string | null, alt: string): void {
  if (act === ADD_PICTURE || (act === null && alt !== '')) refuse('picture', 'Choose the file of the picture.')
}

/** Appends the picture's mark to the field that asked for it, by default to the question on a line of its own. */
function insertPicture(values: URLSearchParams, mark: string): void {
  const { pictureIn } = readFields(values, 'pictureIn')
  const place = /^text-[a-z]{8}$/.test(pictureIn) && values.has(pictureIn) ? pictureIn : 'script'
  const before = (values.get(place) ?? '').trimEnd()
  values.set(place, before === '' ? mark : `${before}${place === 'script' ? '\n\n' : ' '}${mark}`)
  for (const name of ['pictureAlt', 'decorative', 'pictureIn']) values.delete(name)
}

function refuse(field: string, text: string): never {
  throw new DomainError('invalid', { issues: [{ field, rule: 'malformed', text }] })
}
