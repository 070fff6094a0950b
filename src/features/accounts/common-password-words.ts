/**
 * Words of common passwords, longest first, so that a long word is removed before a shorter one inside it.
 */
export const COMMON_PASSWORD_WORDS: readonly string[] = `
administrador administrator contrasenha corinthians deutschland jesuschrist starwarsfan basketball
bestfriend bienvenido california contrasena dragonball manchester motdepasse realmadrid university
volleyball wachtwoord willkommen argentina barcelona butterfly chevrolet chocolate christmas
godisgood instagram liverpool microsoft minecraft moonlight palmeiras september spiderman starlight
superuser wednesday babygirl baseball bemvindo birthday business changeme computer corvette database
december facebook february fernando flamengo football fortnite iloveyou internet jennifer juventus
linkedin mercedes michelle november password passwort personal portugal postgres princess samantha
saturday security starwars sunshine superman sysadmin telegram thursday username whatsapp america
android anthony arsenal babyboy benfica blessed brother captain charlie chelsea chicago college
company default empresa england ferrari flowers forever freedom friends gabriel gandalf gateway
germany goodbye inverno ironman january jessica justice leticia letmein liberty manager matthew
michael million monster mustang netflix newyork october panther phoenix pikachu pokemon porsche
private rainbow samsung samurai service soldier student support teacher testing thunder trustno
tuesday twitter unicorn warrior waygate website welcome william windows youtube abcdef access acesso
always amanda amazon andrew angels asdfgh ashley august autumn azerty banana batman brasil brazil
camaro camila canada carlos change cheese christ coffee cookie dallas daniel dollar dragon escola
falcon family father flower france friday george ginger golden google gremio harley heaven hockey
hunter iphone jordan joshua killer knight laptop london loveme master matrix merlin mexico monday
monkey mother naruto nicole number office oracle orange parola passwd pepper pirate please prince
purple qazwsx qwerty qwertz rafael ranger robert roblox santos school secret secure senhas server
sesame shadow silver sister soccer spring summer sunday system tennis tester thomas toyota ubuntu
winter wizard yamaha yellow zxcvbn admin angel apple april bible black bruno daddy devil eagle eight
extra first green guest happy haslo hello honda italy japan jesus julia letme linux login lover
lucas lucky magic march maria mommy money mysql ninja owner paris paulo peace pedro pizza power
queen senha seven smile spain stars super teamo texas three tiger trust vasco verao white abcd asdf
baby best blue demo deus five ford four goku gold golf good joao july june keys king last lion love
mega nine open pass pink plus root rose star test that this user wolf word your zero aaa abc xyz the
and you my
`
  .trim()
  .split(/\s+/);
