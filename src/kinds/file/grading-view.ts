import { formatBytes } from '../../domain/text/format-bytes.ts'
import { html } from '../../html/html.ts'
import type { GradingView } from '../grading-view.ts'
import type { Answer } from './schema.ts'

/** Names only: the page that shows the answer knows the addresses. */
export const fileGradingView: GradingView = ({ value }) =>
  html`<ul>${((value ?? []) as Answer).map(({ name, bytes }) => html`<li dir="auto">${name} (${formatBytes(bytes)})</li>`)}</ul>`
