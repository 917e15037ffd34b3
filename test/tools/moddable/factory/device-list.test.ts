// A list of devices is taken whole, or refused with all that is wrong; what it holds is never shown.
import test from "ava";
import { readDevices } from "../../../../tools/moddable/factory/device-list.js";
import { SdkError } from "../../../../tools/moddable/sdk.js";

const HEAD = "name,label,url,token,key,secret,ssid,password";

test("columns stand in any order, and what is empty is left to the owner", (t) => {
  t.deepEqual(readDevices('\ufefflabel,name\r\n"with ""quotes"", and more",lamp-1\r\n,lamp-2\r\n\r\n'), [
    { name: "lamp-1", label: 'with "quotes", and more', values: {} },
    { name: "lamp-2", label: undefined, values: {} },
  ]);
  const [device] = readDevices(`${HEAD}\nlamp-1,,https://p.example.com,TOKEN,,,home,"long, password"`);
  t.deepEqual(device, {
    name: "lamp-1",
    label: undefined,
    values: {
      url: "https://p.example.com",
      token: "TOKEN",
      ssid: "home",
      password: "long, password",
      key: undefined,
      secret: undefined,
    },
  });
  t.deepEqual(readDevices(`${HEAD}\nlamp-1,,,,KEY,SECRET,,`)[0]?.values.key, "KEY");
});

const SECRET = "hidden-3141";

test("whatever is wrong with it, it is said by row and column, and no value is shown", (t) => {
  const wrong = (text: string, ...said: RegExp[]): void => {
    const error = t.throws(() => readDevices(text), { instanceOf: SdkError }, text.slice(0, 60));
    for (const one of said) t.regex(error?.message ?? "", one);
    t.notRegex(error?.message ?? "", /hidden/);
  };
  wrong("", /no column name/);
  wrong("name", /no device/);
  wrong(`name,${SECRET}\nlamp-1,x`, /columns that are none/);
  wrong("name,name\na,b", /twice/);
  wrong(`name,token\nlamp-1,${SECRET}`, /row 2: token: needs its url/);
  wrong(`name,label\nlamp-1,short`, /row 2: label: a password has 8 to 63/);
  wrong(`name,label\nlamp-1,${"x".repeat(64)}`, /row 2: label/);
  wrong(`name,label\nlamp-1,${SECRET}\u0000x`, /row 2: label/);
  for (const name of ["../x", "a/b", "", ".hidden", "a b", "x".repeat(64), "=cmd()", "-rf", "a\\b", "ü"])
    wrong(`name,label\n${name},12345678`, /row 2: name/);
  wrong(`name,key\nlamp-1,${SECRET}`, /row 2: secret: the provisioning secret is missing/);
  wrong(`name,url\nlamp-1,ftp://${SECRET}`, /row 2: url/);
  wrong(`name,password\nlamp-1,${SECRET}`, /row 2: ssid/);
  wrong(`name,url,token\nlamp-1,https://a.test,a/${SECRET}`, /row 2: token/);
  wrong("name\nlamp-1\nLAMP-1", /row 3: the name of another row/);
  wrong(`${HEAD}\na,,http://a,${SECRET},,,,\nb,,http://a,${SECRET},,,,`, /row 3: the token of another row/);
  wrong(`name\nlamp-1,${SECRET}`, /row 2: more fields/);
  wrong(`name,label\nlamp-1,"${SECRET}\nlamp-2,x`, /row \d/);
  wrong(`name\n${"a b\n".repeat(100)}`, /and 179 more$/);
  wrong(`name\n${Array.from({ length: 10_001 }, (_, n) => `lamp-${n}`).join("\n")}`, /10000 at most/);
});
