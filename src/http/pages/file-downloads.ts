import type { ShownFile } from '../../domain/sharing/shown-questions.ts'
import { formatBytes } from '../../domain/text/format-bytes.ts'
import { type Html, html } from '../../html/html.ts'
import { icon } from './icon.ts'

/** Files of an answer, as downloads. */
export const fileDownloads = (files: readonly ShownFile[], addressOf: (mediaId: string) => string): Html | false =>
  files.length > 0 &&
  html`<ul class="my-2 grid gap-2">${files.map(({ mediaId, name, bytes }) => {
    const text = html`<span dir="auto" class="break-words">${name}</span>, ${formatBytes(bytes)}`
    if (mediaId === null) return html`<li>${text}: this file can’t be downloaded now.</li>\n`
    return html`<li><a class="link" href="${addressOf(mediaId)}" download>${icon('download', 'mr-2 inline size-4')}${text}</a></li>\n`
  })}</ul>`
