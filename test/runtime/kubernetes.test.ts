import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { loadConfig } from '../../src/runtime/config.ts'
import { Environment } from '../../src/runtime/environment.ts'

type Deployment = {
  kind: string
  metadata: { name: string }
  spec: {
    template: { spec: { containers: { env: { name: string; value: string }[] }[]; terminationGracePeriodSeconds: number } }
  }
}

const FOLDER = 'ops/kubernetes'
const SECRET = {
  DATABASE_URL: 'postgresql://user:password@db.example.com/assessments',
  SECRET_KEY: 's'.repeat(32),
  SMTP_URL: 'smtp://mail.example.com',
}

const readLiterals = async (kustomization: string): Promise<Record<string, string>> => {
  const { configMapGenerator } = parse(await readFile(`${FOLDER}/${kustomization}/kustomization.yaml`, 'utf8'))
  const literals: string[] = configMapGenerator[0].literals
  return Object.fromEntries(literals.map((literal) => [literal.split('=')[0]!, literal.slice(literal.indexOf('=') + 1)]))
}

const readDeployment = async (file: string): Promise<Deployment> =>
  parseAllDocuments(await readFile(`${FOLDER}/${file}`, 'utf8'))
    .map((document) => document.toJS())
    .find(({ kind }) => kind === 'Deployment')

it.each([
  ['base/api.yaml', 'base', 'api'],
  ['base/worker.yaml', 'base', 'worker'],
  ['overlays/one-small-node/one-process.yaml', 'overlays/one-small-node', 'all'],
])('gives %s settings that the service accepts, and more time than it needs for stopping', async (file, kustomization, role) => {
  const deployment = await readDeployment(file)
  const [container] = deployment.spec.template.spec.containers
  const settings = {
    ...(await readLiterals('base')),
    ...(await readLiterals(kustomization)),
    ...Object.fromEntries(container!.env.map(({ name, value }) => [name, value])),
  }
  expect(Object.keys(settings).filter((name) => !(name in Environment.properties))).toEqual([])
  expect(settings.ROLE).toBe(role)
  const config = loadConfig({ ...SECRET, ...settings }, { serves: true })
  expect(config.publicUrl).toBe('https://assessments.example.com')
  const { terminationGracePeriodSeconds } = (await readDeployment('base/api.yaml')).spec.template.spec
  expect(terminationGracePeriodSeconds).toBeGreaterThan(Number(settings.STOP_NOTICE) + 8)
})
