import { type Html, html } from '../../html/html.ts'

/** What a mail says: its subject, and the same in text and in HTML. */
export type Mail = { subject: string; text: string; html: Html }

/** @param title of the HTML part, for programs that show it by itself. */
export const frame = (title: string, body: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body style="margin:0;padding:24px;background:#f3f4f6;font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:#111827;line-height:1.5">
<div style="max-width:560px;margin:0 auto;padding:32px;background:#ffffff;border-radius:8px">
${body}</div>
</body>
</html>
`

export const greet = (name: string | null): string => (name ? `Hello ${name},` : 'Hello,')

/** A link as a button. */
export const button = (url: string, label: string): Html =>
  html`<p style="margin:32px 0"><a href="${url}" style="display:inline-block;padding:12px 24px;background:#1d4ed8;color:#ffffff;text-decoration:none;border-radius:6px">${label}</a></p>
`

/** What stands below the button: in small letters, then the link's address. */
export const smallPrint = (text: string, url: string): Html =>
  html`<p style="font-size:14px;color:#4b5563">${text}</p>
<p style="font-size:14px;color:#4b5563;word-break:break-all">If the button does not work, open this address: ${url}</p>
`
