import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { findFreePort } from './free-port.ts'
import type { Driven } from './other-browsers.ts'
import { waitUntil } from './wait-until.ts'

/** Debian's paths of WebKitGTK's browser and its driver. */
const BROWSER = '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser'
const DRIVER = '/usr/bin/WebKitWebDriver'
const SCREEN = '/usr/bin/Xvfb'
export const isWebKitInstalled = [BROWSER, DRIVER, SCREEN].every((file) => existsSync(file))

const ARGUMENTS = ['--automation', '--enable-media-stream=true', '--enable-mock-capture-devices=true']
/** Key of an element reference in a WebDriver response. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'

/** Starts WebKitGTK with a fake camera and microphone on a virtual screen, controlled over WebDriver. */
export async function startWebKit(): Promise<Driven> {
  const screen = spawn(SCREEN, ['-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const display = await readLine(screen)
  const port = await findFreePort()
  const env = { ...process.env, DISPLAY: `:${display}` }
  const driver = spawn(DRIVER, [`--port=${port}`, '--host=127.0.0.1'], { env, stdio: 'ignore' })
  const ask = askAt(`http://127.0.0.1:${port}`)
  await waitUntil('WebKitWebDriver to listen', () => ask('GET', '/status').catch(() => undefined))
  const options = { 'webkitgtk:browserOptions': { binary: BROWSER, args: ARGUMENTS } }
  const { sessionId } = (await ask('POST', '/session', { capabilities: { alwaysMatch: options } })) as { sessionId: string }
  const session = (method: string, path: string, body?: object) => ask(method, `/session/${sessionId}${path}`, body)
  return {
    open: async (url) => void (await session('POST', '/url', { url })),
    evaluate: (expression) =>
      session('POST', '/execute/async', {
        script: `const done = arguments[0]; Promise.resolve(${expression}).then(done, (error) => done(String(error)))`,
        args: [],
      }),
    async click(selector) {
      const found = (await session('POST', '/element', { using: 'css selector', value: selector })) as Record<string, string>
      await session('POST', `/element/${found[ELEMENT]}/click`, {})
    },
    setCookie: async (cookie) => void (await session('POST', '/cookie', { cookie })),
    async close() {
      await ask('DELETE', `/session/${sessionId}`)
      await Promise.all([end(driver), end(screen)])
    },
  }
}

/** Returns a function that sends WebDriver commands. @throws Error with the driver's message if a command fails. */
function askAt(address: string) {
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(address + path, { method, ...(body && { body: JSON.stringify(body) }) })
    const { value } = (await response.json()) as { value: { message?: string } }
    if (!response.ok) throw new Error(`${method} ${path}: ${value.message}`)
    return value
  }
}

async function readLine({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout! })) return line
  throw new Error('The process ended without a word')
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill()
  await ended
}
