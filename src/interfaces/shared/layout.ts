import type { Brand } from '../../domain/ports/brand.ts'
import { type Html, html } from '../../html/html.ts'
import { SHARE_PATH } from '../../http/addresses/links.ts'
import { loadSharedAssets } from '../../http/pages/assets.ts'
import { brandLink, iconPath } from '../../http/pages/brand.ts'

export const look = loadSharedAssets(SHARE_PATH)

type Page = { title: string; body: Html; brand?: Brand }

export const renderPage = ({ title, body, brand }: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="${(brand && iconPath(brand)) ?? look.icon.address}">
<link rel="stylesheet" href="${look.stylesheet.address}">
${brand && brandLink(brand)}
</head>
<body>
<main class="min-h-dvh">
${body}
</main>
</body>
</html>
`

export const column = (content: Html): Html => html`<div class="mx-auto max-w-3xl px-4 py-8 sm:py-12">${content}</div>`
