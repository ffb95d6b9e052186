import { type Html, html, type Value } from '../../html/html.ts'
import { loadAssets } from '../pages/assets.ts'
import { icon } from '../pages/icon.ts'

export const DOCS_PREFIX = '/docs'

export const FEED_ADDRESS = `${DOCS_PREFIX}/changes.atom`

export const assets = loadAssets(DOCS_PREFIX, 'docs')

export const TITLE = 'Assessment Invitation Service'

export type MenuItem = { label: string; address: string }
export type MenuGroup = { name: string; isReference: boolean; items: MenuItem[] }

export type Page = {
  title: string
  address: string
  body: () => Html
  /** Links under "On this page". */
  contents?: MenuItem[]
  /** Address of the page's Markdown. */
  markdown?: string
  /** Search query. */
  query?: string
  /** Request header with the API key, for the script that tries requests. */
  keyHeader?: string
}

/** A page with header and menu. On phones a button opens the menu, without JavaScript. */
export const renderPage = (menu: MenuGroup[], page: Page): Html => html`<!doctype html>
<html lang="en" class="scroll-smooth motion-reduce:scroll-auto">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title} · ${TITLE}</title>
<link rel="icon" href="${assets.icon.address}">
<link rel="stylesheet" href="${assets.stylesheet.address}">
<script type="module" src="${assets.script.address}"></script>
<link rel="alternate" type="application/atom+xml" title="Changes" href="${FEED_ADDRESS}">
${page.markdown && html`<link rel="alternate" type="text/markdown" href="${page.markdown}">`}
</head>
<body class="bg-base-100" data-key-header="${page.keyHeader ?? ''}">
<a class="btn btn-sm sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50" href="#main">Skip to content</a>
<header class="bg-base-100 border-base-300 sticky top-0 z-20 flex min-h-14 items-center gap-2 border-b px-4 print:hidden">
<label for="menu" class="btn btn-ghost btn-square lg:hidden">${icon('menu', 'size-5')}<span class="sr-only">Menu</span></label>
<a class="flex min-w-0 items-center gap-3 font-semibold" href="${DOCS_PREFIX}"><span class="bg-primary text-primary-content grid size-8 shrink-0 place-items-center rounded-lg font-bold" aria-hidden="true">A</span><span class="truncate max-sm:sr-only">${TITLE}</span></a>
${searchForm(page.query ?? '')}
</header>
<div class="lg:grid lg:grid-cols-[16rem_minmax(0,1fr)]">
<aside class="drawer lg:drawer-open h-auto print:hidden" aria-label="Menu">
<input id="menu" type="checkbox" class="drawer-toggle" aria-label="Menu">
<div class="drawer-side z-30 lg:sticky lg:top-14 lg:h-[calc(100vh-3.5rem)]">
<label for="menu" class="drawer-overlay" aria-hidden="true"></label>
<nav class="bg-base-100 border-base-300 min-h-full w-64 border-r pb-8" aria-label="Documentation">
${orderFor(page, menu).map((group) => menuGroup(group, page.address))}</nav>
</div>
</aside>
<div class="min-w-0 xl:grid xl:grid-cols-[minmax(0,1fr)_auto]">
<main id="main" class="mx-auto w-full max-w-6xl min-w-0 px-4 py-8 sm:px-8" tabindex="-1">
${page.body()}</main>
${page.contents && page.contents.length > 1 && contentsOf(page.contents)}
</div>
</div>
</body>
</html>
`

const searchForm = (
  query: string,
): Html => html`<form role="search" action="${DOCS_PREFIX}/search" class="relative ml-auto w-full max-w-sm" data-search>
<label class="input input-sm w-full">${icon('search')}<span class="sr-only">Search the documentation</span><input type="search" name="q" value="${query}" placeholder="Search" autocomplete="off" maxlength="100"></label>
<div class="bg-base-100 border-base-300 rounded-box absolute right-0 z-40 mt-2 max-h-96 w-full overflow-y-auto border shadow-lg" hidden data-found></div>
<p class="sr-only" role="status"></p>
</form>`

/** Moves the interface of a reference page to the top of the long menu. */
function orderFor({ address }: Page, menu: MenuGroup[]): MenuGroup[] {
  const first = menu.filter(({ isReference, items }) => isReference && items.some((item) => item.address === address))
  return [...first, ...menu.filter((group) => !first.includes(group))]
}

const ITEM = 'block rounded-field px-3 py-1.5'

const menuGroup = ({ name, items }: MenuGroup, current: string): Html => html`<p class="menu-title mt-3 px-6">${name}</p>
<ul class="menu w-full gap-0.5 px-3 pt-0">${items.map(({ label, address }) =>
  address === current
    ? html`<li><a class="${ITEM} bg-primary/10 text-primary font-medium" href="${address}" aria-current="page">${label}</a></li>\n`
    : html`<li><a class="${ITEM}" href="${address}">${label}</a></li>\n`,
)}</ul>
`

const contentsOf = (
  items: MenuItem[],
): Html => html`<nav class="sticky top-14 hidden h-fit max-h-[calc(100vh-3.5rem)] w-60 overflow-y-auto py-8 pr-6 text-sm xl:block print:hidden" aria-label="On this page">
<p class="mb-2 font-semibold">On this page</p>
<ul class="space-y-1.5">${items.map(({ label, address }) => html`<li><a class="text-base-content/75 hover:underline" href="${address}">${label}</a></li>\n`)}</ul>
</nav>`

/** @param actions shown next to the title. */
export const pageHead = (title: Value, lead: Value = false, actions: Value = false): Html =>
  html`<div class="flex flex-wrap items-start gap-4"><div class="min-w-0 grow basis-80"><h1 class="text-3xl">${title}</h1>${lead && html`<p class="text-base-content/75 mt-2 leading-7">${lead}</p>`}</div>${actions}</div>
`
