import { globSync } from 'node:fs'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { expectAccessible, looksOf, overflow, runsAllBrowserTests, startBrowser } from '../../support/browser.ts'
import { follow, type Parameter, readDocument } from '../../support/openapi.ts'
import { type Service, startService, startServiceForTest } from '../../support/service.ts'

let service: Service
let origin: string
beforeAll(async () => {
  service = await startService()
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => service.close())

const names = ['v1', 'alternate'] as const

/** Reads all pages that links from /docs lead to, by address. */
async function readPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>()
  const waiting = ['/docs']
  for (let address = waiting.pop(); address; address = waiting.pop()) {
    if (pages.has(address)) continue
    const { status, text } = await service.http().get(address)
    expect([address, status]).toEqual([address, 200])
    pages.set(address, text)
    waiting.push(...[...text.matchAll(/<a [^>]*href="(\/docs[^"#?]*)/g)].map(([, found]) => found!))
  }
  return pages
}

it('has no broken links in the documentation, and a unique title for each page', async () => {
  const pages = await readPages()
  for (const [address, text] of pages) {
    const anchors = [...text.matchAll(/href="([^"#]*)#([^"]*)"/g)].map(([, page, anchor]) => [page || address, anchor!] as const)
    const broken = anchors.filter(([page, anchor]) => !pages.get(page)?.includes(` id="${anchor}"`))
    expect([address, broken.filter(([page]) => page.startsWith('/docs'))]).toEqual([address, []])
  }
  const titles = [...pages.values()].flatMap((text) => /<title>(.*)<\/title>/.exec(text)?.[1] ?? [])
  expect(new Set(titles).size).toBe(titles.length)
})

it('has all guides in the documentation', async () => {
  const pages = await readPages()
  const guides = globSync('docs/guides/*.md').map((file) => `/docs/guides/${path.basename(file, '.md')}`)
  expect(guides.filter((address) => !pages.has(address))).toEqual([])
})

it('compresses the documentation if accepted, and answers 304 to browsers with the current version', async () => {
  for (const address of ['/docs', '/docs/guides/webhooks', '/docs/v1/invites', '/docs/v1/openapi.json', '/docs/search.json']) {
    const { headers, status } = await service.http().get(address)
    expect([status, headers['cache-control'], headers['content-encoding']]).toEqual([200, 'no-cache', 'gzip'])
    const again = await service.http().get(address).set('if-none-match', headers.etag!)
    expect([address, again.status, again.text]).toEqual([address, 304, ''])
    const plain = await service.http().get(address).set('accept-encoding', 'identity')
    expect([plain.headers['content-encoding'], plain.headers.etag]).toEqual([undefined, headers.etag])
  }
})

it('answers 404 to an unknown address under /docs, with suggestions for its last segment', async () => {
  for (const address of [
    '/docs/nowhere',
    '/docs/guides/',
    '/docs/guides/%2e%2e/glossary',
    '/docs/v1/%22%3E%3Cimg src=x>',
    '/docs/assets/x.js',
  ]) {
    const { status, type, text } = await service.http().get(address)
    expect([address, status, type]).toEqual([address, 404, 'text/html'])
    expect([text.includes('<h1 class="text-3xl">Page not found</h1>'), text.includes('name="q"'), text.includes('<img')]).toEqual(
      [true, true, false],
    )
  }
  expect((await service.http().get('/docs/webhook-signatures')).text).toContain('href="/docs/guides/webhook-signatures"')
  expect((await service.http().get('/docs/../package.json')).status).toBe(404)
})

it('finds headings and operations in the search without JavaScript, and escapes the query', async () => {
  const find = async (query: string) => (await service.http().get(`/docs/search?q=${encodeURIComponent(query)}`)).text
  expect(await find('signature verifying')).toContain('href="/docs/guides/webhook-signatures"')
  expect(await find('invite a CANDIDATE')).toContain('href="/docs/v1/invites#createInvite"')
  expect(await find('InviteDetail')).toContain('/objects#object-InviteDetail"')
  const hostile = await find('"><img src=x>')
  expect([hostile.includes('<img'), hostile.includes('Nothing found in')]).toEqual([false, true])
  expect(await find('')).toContain('Enter words of the guides')
})

it('finds text below headings in the search, and shows an excerpt', async () => {
  const { text } = await service.http().get('/docs/search?q=idempotent-REPLAYED')
  expect(text).toMatch(/href="\/docs\/guides\/retries[\s\S]*<mark [^>]*>Idempotent-Replayed<\/mark>/)
  expect((await service.http().get('/docs/search?q=WebhookDeliveryList')).text).toContain('A page of the list; Link leads')
  expect((await service.http().get('/docs/search?q=a.*b')).text).not.toContain('<mark')
})

it.each([
  ['v1', '/api/v1'],
  ['alternate', '/api/alternate'],
])('shows the requested origin as base URL in the contract, lists, and search results: %s', async (name, base) => {
  for (const host of ['localhost:4000', '127.0.0.1:8443'])
    for (const address of [`/docs/contract/${name}`, '/docs', '/docs/search?q=relative paths']) {
      const { text } = await service.http().get(address).set('host', host)
      expect([address, text.includes(`http://${host}${base}`), text.includes('base_url}')]).toEqual([address, true, false])
    }
})

describe.each(names)('/docs/%s', (name) => {
  it('shows every operation, parameter, and object of its own interface only', async () => {
    const document = await readDocument(service, name)
    const own = [...(await readPages())].filter(([address]) => address.startsWith(`/docs/${name}/`)).map(([, text]) => text)
    const text = own.join('')
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
    for (const { operationId, parameters = [] } of operations) {
      const [, rest = ''] = text.split(`<article id="${operationId}"`)
      const [article = ''] = rest.split('</article>')
      for (const parameter of parameters)
        expect(article).toMatch(new RegExp(`<code class="name [^"]*">${follow<Parameter>(document, parameter).name}</code>`))
      expect(article).toMatch(/<form [^>]*data-method=/)
    }
    const shown = (prefix: RegExp) => [...text.matchAll(prefix)].map(([, id]) => id).sort()
    expect(shown(/<article id="object-(\w+)"/g)).toEqual(Object.keys(document.components.schemas).sort())
    expect(shown(/<article id="(\w+)"/g)).toEqual(operations.map(({ operationId }) => operationId).sort())
  })

  it('has a title, and a policy that allows only its own files and no inline code', async () => {
    const { headers, text } = await service.http().get(`/docs/${name}/tags`)
    expect(text.match(/aria-current="page"/g)).toHaveLength(1)
    const policy = headers['content-security-policy']!
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toContain('unsafe')
    expect(text).not.toMatch(/<style|<[^>]+ (style|on\w+)=|<script>|(src|href)="(?!#|\/docs)/)
  })
})

describe.each(names)('the Bruno collection of %s', (name) => {
  type Parameter = { name: string; type: 'path' | 'query'; value: string; enabled: boolean }
  type Item = { name: string; seq: number; type: string }
  type Sent = {
    url: string
    method: string
    params: Parameter[]
    headers: { name: string }[]
    body: { mode: string; json?: string }
  }
  type Folder = Item & { items: (Item & { request: Sent })[] }
  const variablesIn = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, variable]) => variable!)

  it("has every operation in its group's folder, valid bodies, and variables", async () => {
    const { body: collection, headers } = await service.http().get(`/docs/${name}/bruno.json`)
    expect(headers['content-disposition']).toBe(`attachment; filename="${name}-bruno.json"`)
    const document = await readDocument(service, name)
    const folders = collection.items as Folder[]
    expect(folders.map((folder) => folder.name).sort()).toEqual(document.tags.map((tag) => tag.name).sort())
    const requests = folders.flatMap(({ items }) => items)
    for (const { items } of folders) expect(new Set(items.map((item) => item.name)).size).toBe(items.length)

    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method, path]),
    )
    const asked = requests.map(({ request }) => [
      request.method.toLowerCase(),
      request.url.replace('{{baseUrl}}', '').replaceAll(/:(\w+)/g, '{$1}'),
    ])
    expect(asked.sort()).toEqual(operations.sort())

    const known = new Set((collection.environments[0].variables as { name: string }[]).map((variable) => variable.name))
    expect(variablesIn(JSON.stringify(collection)).filter((variable) => !known.has(variable))).toEqual([])
    for (const { request } of requests) {
      const inUrl = [...request.url.matchAll(/:(\w+)/g)].map(([, part]) => part)
      expect(request.params.filter(({ type }) => type === 'path').map((parameter) => parameter.name)).toEqual(inUrl)
      if (request.body.mode === 'json') expect(() => JSON.parse(request.body.json!)).not.toThrow()
    }
    const { apikey } = collection.root.request.auth
    expect(apikey).toMatchObject({ value: '{{apiKey}}', placement: 'header' })
    expect(apikey.key.toLowerCase()).toBe(name === 'v1' ? 'x-api-key' : 'x-service-docs-api-key')
  })
})

describe.each(names)('the Postman collection of %s', (name) => {
  type Pair = { key: string; value: string }
  type Url = { raw: string; host: string[]; path: string[]; variable: Pair[] }
  type Sent = { method: string; url: Url; body?: { raw: string } }

  it('has every operation in its folder, with the key, the URL in parts, and valid bodies', async () => {
    const { body: collection } = await service.http().get(`/docs/${name}/postman.json`)
    const document = await readDocument(service, name)
    const folders = collection.item as { name: string; item: { request: Sent }[] }[]
    expect(folders.map((folder) => folder.name).sort()).toEqual(document.tags.map((tag) => tag.name).sort())
    const requests = folders.flatMap(({ item }) => item.map(({ request }) => request))
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    )
    expect(requests.map(({ method, url }) => `${method} /${url.path.join('/')}`).sort()).toEqual(operations.sort())

    const known = (collection.variable as Pair[]).map(({ key }) => `{{${key}}}`)
    for (const { url, body } of requests) {
      expect(url.raw).toBe(`${url.host[0]}/${url.path.join('/')}`)
      expect(url.variable.map(({ key }) => `:${key}`)).toEqual(url.path.filter((part) => part.startsWith(':')))
      expect([...url.host, ...url.variable.map(({ value }) => value)].filter((value) => !known.includes(value))).toEqual([])
      if (body) expect(() => JSON.parse(body.raw)).not.toThrow()
    }
    const { apikey } = collection.auth as { apikey: Pair[] }
    expect(Object.fromEntries(apikey.map(({ key, value }) => [key, value.toLowerCase()]))).toEqual({
      key: name === 'v1' ? 'x-api-key' : 'x-service-docs-api-key',
      value: '{{apikey}}',
      in: 'header',
    })
  })
})

it("shows the alternate interface's reference under the configured prefix", async () => {
  const moved = await startServiceForTest({ ALTERNATE_PREFIX: '/elsewhere' })
  expect((await moved.http().get('/docs/alternate')).text).toContain('<code>/elsewhere/tags</code>')
})

describe.skipIf(!runsAllBrowserTests)('the documentation in a browser (skipped where no chromium is installed)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.goto(origin + path)
    return page
  }
  const keyIn = (page: Page) => page.getByLabel('API key')

  it.each(['/docs/v1/invites', '/docs/alternate/objects'].map((address, index) => [address, index] as const))(
    'is accessible even with everything unfolded: %s',
    async (address, index) => {
      const page = await open(address)
      await page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
      for (const { viewport, colorScheme } of looksOf(index)) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        await expectAccessible(page)
        expect(await overflow(page)).toBe(0)
      }
    },
  )

  it('works without JavaScript: samples and search are available, and the request form is hidden', async () => {
    const page = await open('/docs/v1/invites', { javaScriptEnabled: false })
    expect(await page.getByRole('heading', { name: 'Invite a candidate', exact: true }).isVisible()).toBe(true)
    expect(await page.locator('main button:visible').count()).toBe(0)
    await page.locator('#createInvite').getByRole('radio', { name: 'Python' }).check()
    expect(await page.locator('#createInvite').getByText('import urllib.request').isVisible()).toBe(true)
    await page.getByRole('searchbox').fill('rate limits')
    await page.keyboard.press('Enter')
    await page.getByRole('main').getByRole('link', { name: 'Rate limits' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Rate limits' }).waitFor()
  })

  it('shows results while typing, and is operable by keyboard', async () => {
    const page = await open('/docs')
    await page.getByRole('searchbox').focus()
    await page.keyboard.type('verifying')
    await page.locator('[data-found] a').first().waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: "Verifying a webhook's signature" }).waitFor()
  })

  it('applies the chosen language to all samples, even on the next page', async () => {
    const page = await open('/docs/v1/invites')
    await page.locator('#createInvite').getByRole('radio', { name: 'TypeScript' }).check()
    expect(await page.locator('#listInvites').getByText('await fetch').isVisible()).toBe(true)
    await page.goto(`${origin}/docs/alternate/tags`)
    expect(await page.locator('#listTags').getByText('await fetch').isVisible()).toBe(true)
  })

  it('keeps the API key in the tab until the user removes it', async () => {
    const page = await open('/docs/v1/tags')
    await keyIn(page).fill('ak_live_typed')
    await page.reload()
    expect(await keyIn(page).inputValue()).toBe('ak_live_typed')
    await page.goto(`${origin}/docs/alternate/tags`)
    expect(await keyIn(page).inputValue()).toBe('ak_live_typed')

    const otherTab = await page.context().newPage()
    await otherTab.goto(`${origin}/docs/v1/tags`)
    expect(await keyIn(otherTab).inputValue()).toBe('')
    expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, ''])

    await page.getByRole('button', { name: 'Forget' }).click()
    await page.reload()
    expect(await keyIn(page).inputValue()).toBe('')
  })

  /** Opens an operation's request form. */
  async function tryOut(page: Page, operationId: string) {
    const form = page.locator(`#${operationId} .try`)
    await form.locator('summary').click()
    return {
      field: (name: string) => form.getByRole('textbox', { name, exact: true }),
      choose: (name: string, word: string) => form.getByRole('combobox', { name, exact: true }).selectOption(word),
      async send() {
        await form.getByRole('button', { name: 'Send' }).click()
        await form.locator('.answer pre').waitFor()
        return {
          status: await form.locator('.answer p').textContent(),
          body: JSON.parse((await form.locator('pre').textContent())!),
        }
      },
    }
  }

  it('sends a request with path, query, headers, and body, and shows the response', async () => {
    const { id, key } = await service.make.organization()
    const tags = [await service.make.tag(id), await service.make.tag(id)]
    const page = await open('/docs/v1/tags')
    const refused: string[] = []
    page.on('console', (message) => void (message.text().includes('Content Security Policy') && refused.push(message.text())))

    const list = await tryOut(page, 'listTags')
    expect((await list.send()).status).toMatch(/^401 Unauthorized, \d+ ms$/)
    await keyIn(page).fill(key)
    await list.field('limit').fill('1')
    await list.choose('order', 'asc')
    const { status, body } = await list.send()
    expect([status, body.tags.length, body.pagination.total]).toEqual([expect.stringMatching(/^200 OK/), 1, 2])

    const one = await tryOut(page, 'getTag')
    await one.field('tagId').fill(tags[0]!.id)
    expect((await one.send()).body.tag.id).toBe(tags[0]!.id)

    const create = await tryOut(page, 'createTag')
    await create.field('Idempotency-Key').fill('once')
    await create.field('Body').fill('{"name":"From the page"}')
    const [first, again] = [await create.send(), await create.send()]
    expect([first.status, again.body]).toEqual([expect.stringMatching(/^201 Created/), first.body])
    expect(await service.db.tag.count({ where: { organizationId: id } })).toBe(3)
    expect(refused).toEqual([])
  })

  it("sends the alternate interface's key in its header, and escapes the response", async () => {
    const { id, key } = await service.make.organization()
    const name = '<img src=x onerror="document.title=1">'
    await service.make.tag(id, { name })
    const page = await open('/docs/alternate/tags')
    await keyIn(page).fill(key)
    const { body } = await (await tryOut(page, 'listTags')).send()
    expect([body.results[0].name, await page.locator('img').count()]).toEqual([name, 0])
  })
})

describe('the documentation for programs', () => {
  it.each(names)('has the OpenAPI document of %s as YAML too', async (name) => {
    const document = await fetch(`${origin}/docs/${name}/openapi.yaml`)
    expect(document.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
    expect(parse(await document.text())).toEqual(await (await fetch(`${origin}/docs/${name}/openapi.json`)).json())
  })

  it('has each guide as Markdown at its address with .md, whose links lead to Markdown', async () => {
    const { text } = await service.http().get('/llms.txt')
    const addresses = [...text.matchAll(/\]\(http:\/\/127\.0\.0\.1:\d+(\/docs\/\S+)\)/g)].map(([, address]) => address!)
    const guides = globSync('docs/guides/*.md').map((file) => `/docs/guides/${path.basename(file)}`)
    expect(addresses).toEqual(expect.arrayContaining([...guides, '/docs/versions.md', '/docs/v1/openapi.yaml']))
    for (const address of addresses.filter((found) => found.endsWith('.md'))) {
      const page = await service.http().get(address)
      expect([address, page.status, page.headers['content-type']]).toEqual([address, 200, 'text/markdown; charset=utf-8'])
      expect(page.text).toMatch(/^# /)
      expect(page.text).not.toContain('base_url}')
      for (const [, link] of page.text.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\((?!https?:)([^)\s#]+)/g))
        expect(link).toMatch(/^\/docs\/.+\.md$|^\/docs\/examples\//)
    }
    expect((await service.http().get('/docs/guides/webhooks')).text).toContain(
      'type="text/markdown" href="/docs/guides/webhooks.md"',
    )
  })

  it('has a feed of the releases', async () => {
    const { headers, text } = await service.http().get('/docs/changes.atom').buffer(true)
    expect(headers['content-type']).toBe('application/atom+xml; charset=utf-8')
    expect(text).toMatch(/^<\?xml version="1\.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www\.w3\.org\/2005\/Atom">/)
    expect(text).toMatch(/<entry>\n<id>http:\/\/127\.0\.0\.1:\d+\/docs\/changes\?version=1\.0\.0<\/id>\n<title>1\.0\.0<\/title>/)
    expect(text).toContain('&lt;h3 id=&quot;for-candidates&quot;')
    expect(text).not.toContain('Unreleased')
  })
})
