import { type Html, html } from '../../html/html.ts'
import type { MailTexts } from '../../locales/languages.ts'

/** What a mail says: its subject, and the same in text and in HTML. Classes are the roles of inline-styles.ts. */
export type Mail = { subject: string; text: string; html: Html }

/** @param title of the HTML part, for programs that show it by itself. */
export const frame = (t: MailTexts, title: string, body: Html): Html => html`<!doctype html>
<html lang="${t.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${title}</title>
</head>
<body class="page">
<div class="card">
${body}</div>
</body>
</html>
`

export const greet = (t: MailTexts, name: string | null): string =>
  name ? t.text('greeting.named', { name }) : t.text('greeting')

/** A link as a button. */
export const button = (
  url: string,
  label: string,
): Html => html`<p class="action"><a href="${url}" class="button">${label}</a></p>
`

/** What stands below the button: in small letters, then the link's address. */
export const smallPrint = (t: MailTexts, text: string, url: string): Html => html`<p class="small">${text}</p>
<p class="small">${t.text('frame.address')} ${url}</p>
`
