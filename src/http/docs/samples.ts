import type { Operation, Parameter } from './describe.ts'

/** Code that calls an operation. It reads the environment variables SERVICE (address) and KEY. */
export type Sample = { language: (typeof LANGUAGES)[number]; text: string }

export const LANGUAGES = ['curl', 'TypeScript', 'Python'] as const

/** Samples in each language, with required parameters only. */
export function samplesOf(operation: Operation, keyHeader: string): Sample[] {
  const call = callOf(operation)
  const write = { curl: writeCurl, TypeScript: writeTypeScript, Python: writePython }
  return LANGUAGES.map((language) => ({ language, text: write[language](call, keyHeader) }))
}

type Call = { method: string; target: string; body: unknown; answer: Operation['answers'] }

function callOf({ method, path, parameters, body, answers }: Operation): Call {
  const required = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place && parameter.required)
  const filledPath = required('path').reduce(
    (text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(example)),
    path,
  )
  const query = new URLSearchParams(Object.fromEntries(required('query').map(({ name, example }) => [name, example]))).toString()
  return {
    method,
    target: query ? `${filledPath}?${query}` : filledPath,
    body: body && JSON.parse(body.example),
    answer: answers,
  }
}

/** Indents all lines but the first. */
const indent = (text: string, indentation: string): string => text.replaceAll('\n', `\n${indentation}`)

function writeCurl({ method, target, body, answer }: Call, keyHeader: string): string {
  const isImplied = method === 'GET' || (method === 'POST' && body !== null)
  return [
    `curl "$SERVICE${target}"`,
    !isImplied && `-X ${method}`,
    `-H "${keyHeader}: $KEY"`,
    body !== null && `-H 'content-type: application/json'`,
    body !== null && `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
    answer === 'a file' && '-OJ',
  ]
    .filter((part) => part !== false)
    .join(' \\\n  ')
}

function writeTypeScript({ method, target, body, answer }: Call, keyHeader: string): string {
  const type = body === null ? '' : ", 'content-type': 'application/json'"
  const read = { JSON: 'await response.json()', 'a file': 'await response.bytes()', nothing: '' }[answer]
  return [
    `const response = await fetch(\`\${process.env.SERVICE}${target}\`, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: { '${keyHeader}': process.env.KEY!${type} },`,
    ...(body === null ? [] : [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2), '  ')}),`]),
    '})',
    `console.log(response.status${read && `, ${read}`})`,
  ].join('\n')
}

function writePython({ method, target, body, answer }: Call, keyHeader: string): string {
  const type = body === null ? '' : ', "content-type": "application/json"'
  const read = { JSON: 'json.load(response)', 'a file': 'response.read()', nothing: '' }[answer]
  const usesJson = body !== null || answer === 'JSON'
  return [
    ...(usesJson ? ['import json'] : []),
    'import os',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    f"{os.environ['SERVICE']}${target}",`,
    `    method="${method}",`,
    `    headers={"${keyHeader}": os.environ["KEY"]${type}},`,
    ...(body === null ? [] : [`    data=json.dumps(${indent(toPython(body), '    ')}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    print(response.status${read && `, ${read}`})`,
  ].join('\n')
}

/** Prints a JSON value as a Python literal. */
function toPython(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close, members] = Array.isArray(value)
    ? ['[', ']', value.map(toPython)]
    : ['{', '}', Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${toPython(member)}`)]
  if (members.length === 0) return open + close
  return `${open}\n${members.map((member) => `    ${indent(member, '    ')},\n`).join('')}${close}`
}
