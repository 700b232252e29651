/**
 * Well-known places that no IANA zone is named after, by zone.
 * Only places with one zone whose name means the same place to nearly everyone:
 * no Portland, no Birmingham, no Spain. They take precedence over the city part of an IANA name.
 */
const PLACES: Readonly<Record<string, string>> = {
  UTC: 'UTC, GMT, Zulu, Greenwich Mean Time, Coordinated Universal Time',

  'America/Los_Angeles':
    'San Francisco, San Diego, Seattle, Las Vegas, Sacramento, Oakland, Hollywood, Silicon Valley, California',
  'America/Denver': 'Salt Lake City, Albuquerque, Colorado Springs',
  'America/Chicago':
    'Dallas, Houston, Austin, San Antonio, New Orleans, Minneapolis, Milwaukee, Nashville, Memphis, St. Louis, Kansas City',
  'America/New_York':
    'Washington, Washington DC, New York City, NYC, Boston, Philadelphia, Miami, Orlando, Atlanta, Baltimore, Pittsburgh, Cleveland',
  'Pacific/Honolulu': 'Hawaii',
  'America/Puerto_Rico': 'San Juan',
  'America/Toronto': 'Montreal, Ottawa, Quebec City',
  'America/Edmonton': 'Calgary',
  'America/Sao_Paulo': 'Rio de Janeiro, Rio, Brasilia',
  'America/Guayaquil': 'Quito',
  'America/Bogota': 'Medellin, Colombia',
  'America/Lima': 'Cusco, Peru',

  'Europe/Berlin':
    'Munich, München, Hamburg, Frankfurt, Cologne, Köln, Stuttgart, Düsseldorf, Leipzig, Dresden, Nuremberg, Germany',
  'Europe/Zurich': 'Geneva, Basel, Bern, Lausanne, Switzerland',
  'Europe/Vienna': 'Wien, Salzburg, Graz, Innsbruck, Austria',
  'Europe/Rome': 'Milan, Naples, Florence, Venice, Turin, Italy',
  'Europe/Madrid': 'Barcelona, Seville, Bilbao',
  'Europe/Paris': 'Lyon, Marseille, Nice, Toulouse, Bordeaux, Strasbourg, France',
  'Europe/London':
    'Manchester, Liverpool, Edinburgh, Glasgow, Cardiff, Belfast, Oxford, England, Scotland, Wales, UK, the United Kingdom, Great Britain',
  'Europe/Dublin': 'Ireland',
  'Europe/Amsterdam': 'Rotterdam, The Hague, Utrecht, Eindhoven, the Netherlands',
  'Europe/Brussels': 'Antwerp, Bruges, Ghent, Belgium',
  'Europe/Lisbon': 'Porto',
  'Europe/Warsaw': 'Krakow, Gdansk, Wroclaw, Poland',
  'Europe/Prague': 'Brno, Czechia, Czech Republic',
  'Europe/Budapest': 'Hungary',
  'Europe/Stockholm': 'Gothenburg, Malmö, Sweden',
  'Europe/Oslo': 'Bergen, Norway',
  'Europe/Copenhagen': 'Aarhus, Denmark',
  'Europe/Helsinki': 'Tampere, Finland',
  'Europe/Athens': 'Thessaloniki, Greece',
  'Europe/Istanbul': 'Ankara, Izmir, Turkey',
  'Europe/Kyiv': 'Lviv, Ukraine',
  'Europe/Moscow': 'Saint Petersburg, St. Petersburg',
  'Atlantic/Reykjavik': 'Iceland',

  'Africa/Johannesburg': 'Cape Town, Durban, Pretoria, South Africa',
  'Africa/Casablanca': 'Marrakesh, Marrakech, Rabat, Morocco',
  'Africa/Cairo': 'Egypt',
  'Africa/Lagos': 'Abuja, Nigeria',
  'Africa/Nairobi': 'Mombasa, Kenya',

  'Asia/Dubai': 'Abu Dhabi, UAE, the United Arab Emirates',
  'Asia/Qatar': 'Doha',
  'Asia/Riyadh': 'Mecca, Medina, Jeddah, Saudi Arabia',
  'Asia/Jerusalem': 'Tel Aviv, Haifa, Israel',
  'Asia/Tehran': 'Iran',
  'Asia/Karachi': 'Lahore, Islamabad, Pakistan',
  'Asia/Kolkata': 'Mumbai, Bombay, Delhi, New Delhi, Bangalore, Bengaluru, Chennai, Hyderabad, Pune, India',
  'Asia/Kathmandu': 'Nepal',
  'Asia/Bangkok': 'Chiang Mai, Phuket, Thailand',
  'Asia/Ho_Chi_Minh': 'Ho Chi Minh City, Hanoi, Vietnam',
  'Asia/Makassar': 'Bali, Denpasar',
  'Asia/Manila': 'Cebu, the Philippines',
  'Asia/Shanghai': 'Beijing, Shenzhen, Guangzhou, Chengdu, Wuhan, China',
  'Asia/Taipei': 'Taiwan',
  'Asia/Tokyo': 'Osaka, Kyoto, Yokohama, Nagoya, Sapporo, Fukuoka, Hiroshima, Japan, JST',
  'Asia/Seoul': 'Busan, South Korea',

  'Australia/Sydney': 'Canberra',
  'Australia/Brisbane': 'Gold Coast, Cairns',
  'Pacific/Auckland': 'Wellington, Christchurch, Queenstown',
}

/** Those places as lists, by zone. */
export const placesByZone: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(PLACES).map(([zone, names]) => [zone, names.split(', ')]),
)

/** Zones that some ICU releases still list under a name that IANA has replaced. */
export const currentZoneNames: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
}
