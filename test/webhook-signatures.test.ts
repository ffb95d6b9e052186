import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { makeDataDir } from './support/data-dir.ts'

const GUIDE = 'docs/guides/webhook-signatures.md'
const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
const BODY = '{"type":"invite.completed","name":"Zoë Ångström"}'

type Message = { secret: string; headers: Record<string, string>; body: string }

/** Builds a program from the recipe of each language. The program gets messages, and prints for each whether it accepts it. */
const LANGUAGES = [
  {
    fence: 'ts',
    file: 'verify.ts',
    command: process.execPath,
    program: (recipe: string) => `${recipe}
import { readFileSync } from 'node:fs'
const messages = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify(messages.map(({ secret, headers, body }) => isSigned(secret, headers, Buffer.from(body)))))`,
  },
  {
    fence: 'python',
    file: 'verify.py',
    command: 'python3',
    program: (recipe: string) => `${recipe}
import json, sys
messages = json.load(sys.stdin)
print(json.dumps([is_signed(m["secret"], m["headers"], m["body"].encode()) for m in messages]))`,
  },
  {
    fence: 'java',
    file: 'Verify.java',
    command: 'java',
    // Java runs the first class of a file, so this class comes first. Java has no JSON parser, so the program contains the messages.
    program: (recipe: string, messages: Message[]) =>
      recipe.replace(
        'class Webhooks {',
        `class Verify {
  public static void main(String[] given) throws Exception {
    System.out.println(Arrays.asList(${messages
      .map(
        ({ secret, headers, body }) =>
          `Webhooks.isSigned(${JSON.stringify(secret)}, Map.of(${Object.entries(headers)
            .flat()
            .map((text) => JSON.stringify(text))
            .join(', ')}), ${JSON.stringify(body)}.getBytes(StandardCharsets.UTF_8))`,
      )
      .join(', ')}));
  }
}

class Webhooks {`,
      ),
  },
  {
    fence: 'php',
    file: 'verify.php',
    command: 'php',
    program: (recipe: string) => `${recipe}
$messages = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(fn ($m) => is_signed($m['secret'], $m['headers'], $m['body']), $messages));`,
  },
]

const isInstalled = (command: string): boolean => spawnSync(command, ['--version']).status === 0

/** Signs a message like the service. */
function sign({ secret = SECRET, at = new Date(), body = BODY } = {}): Message {
  const signature = new Webhook(secret).sign('event-1', at, body)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  return { secret, body, headers: { 'webhook-id': 'event-1', 'webhook-timestamp': timestamp, 'webhook-signature': signature } }
}

const withHeaders = (message: Message, headers: Record<string, string>): Message => ({
  ...message,
  headers: { ...message.headers, ...headers },
})

describe('the recipe for verifying a signature', () => {
  for (const { fence, file, command, program } of LANGUAGES)
    it.skipIf(!isInstalled(command))(
      `accepts only recent messages signed with either secret: ${fence} (skipped where ${command} is not installed)`,
      async () => {
        const recipe = new RegExp(`^\`\`\`${fence}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(await readFile(GUIDE, 'utf8'))![1]!
        const good = sign()
        const other = sign({ secret: `whsec_${Buffer.from('another secret').toString('base64')}` }).headers['webhook-signature']!
        const both = `${other} ${good.headers['webhook-signature']}`
        const minutes = (count: number) => new Date(Date.now() + count * 60_000)
        const expected: [Message, boolean][] = [
          [good, true],
          [withHeaders(good, { 'webhook-signature': both }), true],
          [withHeaders(good, { 'webhook-signature': other }), false],
          [withHeaders(good, { 'webhook-signature': '' }), false],
          [withHeaders(good, { 'webhook-id': 'event-2' }), false],
          [withHeaders(good, { 'webhook-timestamp': 'soon' }), false],
          [{ ...good, body: BODY.replace('Zoë', 'Zoé') }, false],
          [sign({ at: minutes(-6) }), false],
          [sign({ at: minutes(6) }), false],
        ]
        const messages = expected.map(([message]) => message)
        const source = path.join(await makeDataDir(), file)
        await writeFile(source, program(recipe, messages))
        const { stdout, stderr } = spawnSync(command, [source], { input: JSON.stringify(messages), encoding: 'utf8' })
        expect(stdout, stderr).not.toBe('')
        expect(JSON.parse(stdout)).toEqual(expected.map(([, isTaken]) => isTaken))
      },
    )
})
